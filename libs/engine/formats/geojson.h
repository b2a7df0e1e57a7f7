// GeoJSON (RFC 7946), in pixels or in the coordinates of the map that a picture is.
#pragma once

#include <array>
#include <optional>

#include "libs/engine/formats/annotation.h"

namespace samlet::formats {

/// Where a picture lies on a map. Value type.
struct GeoReference {
  /// X = a[0] x + a[1] y + a[2], Y = a[3] x + a[4] y + a[5] for x, y in pixels from the upper left corner of
  /// the upper left pixel (of a file that gives the centres of pixels the caller shifts by half a pixel).
  std::array<double, 6> affine{1, 0, 0, 0, 1, 0};
  std::optional<int> epsg;  ///< The coordinate system; none = the file does not say one by a number.
};

struct GeojsonOptions {
  std::optional<GeoReference> reference;  ///< None: coordinates are pixels, x right, y down, without a `crs`.
  double tolerance = 0;                   ///< Of outlines, in pixels; 0 = exact.
};

/// A FeatureCollection with one feature an instance: a MultiPolygon with its holes, and the properties image,
/// instance, label, category (from 0), kind, score, area (pixels). Outlines run counter-clockwise and holes
/// clockwise when X points right and Y up, and the first corner is repeated at the end. With `epsg` the
/// collection has the member `crs` (urn:ogc:def:crs:EPSG::N) of GeoJSON 2008, which GDAL, QGIS and geopandas
/// read; RFC 7946 itself knows longitude and latitude only. The exact outlines make valid polygons; with a
/// tolerance a ring may come to cross itself. Errors: kUsage as check_picture, and for a reference that is
/// not finite or flat. Thread-safe.
[[nodiscard]] Text geojson(const AnnotatedPicture& picture, const GeojsonOptions& options = {});

}  // namespace samlet::formats
