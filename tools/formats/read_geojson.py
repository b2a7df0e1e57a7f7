"""GeoJSON: shapely (valid polygons, areas, orientation) and GDAL, which geopandas reads with (pyogrio)."""

import json

import numpy as np
import pyogrio
import shapely
from masks import CATEGORIES, fill

# tests/formats/samples.cc has the same numbers.
AFFINE = np.array([[0.3, 0.01, 399960.5], [-0.02, -0.3, 5000040.25]])


def features(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["type"] == "FeatureCollection"
    return data, data["features"]


def check_rings(coordinates):
    for polygon in coordinates:
        for i, ring in enumerate(polygon):
            assert ring[0] == ring[-1] and len(ring) >= 4
            assert shapely.LinearRing(ring).is_ccw == (i == 0), "an outline runs clockwise, or a hole does not"


def rasterised(shape, size):
    """True where the centre of a pixel lies in the shape."""
    height, width = size
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    return shapely.contains_xy(shape, x, y)


def check_exact(folder, picture):
    _, found = features(folder / f"{picture.name}.geojson")
    wanted = [(i + 1, a) for i, a in enumerate(picture.annotations) if a.mask.any()]
    for feature, (number, annotation) in zip(found, wanted, strict=True):
        assert feature["type"] == "Feature"
        assert feature["properties"] == {
            "image": f"{picture.name}.png", "instance": number, "label": CATEGORIES[annotation.category],
            "category": annotation.category, "kind": annotation.kind, "score": annotation.score,
            "area": np.count_nonzero(annotation.mask),
        }
        check_rings(feature["geometry"]["coordinates"])
        shape = shapely.geometry.shape(feature["geometry"])
        assert shape.geom_type == "MultiPolygon"
        assert shape.is_valid, shapely.is_valid_reason(shape)
        assert shape.area == np.count_nonzero(annotation.mask)
        rings = [np.array(ring[:-1]) for polygon in feature["geometry"]["coordinates"] for ring in polygon]
        assert (fill(rings, picture.size) == annotation.mask).all()
        if annotation.mask.size < 1000:
            assert (rasterised(shape, picture.size) == annotation.mask).all()


def check_map(folder, picture):
    path = folder / f"{picture.name}.map.geojson"
    data, found = features(path)
    assert data["crs"] == {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32632"}}
    _, pixels = features(folder / f"{picture.name}.geojson")
    for feature, flat in zip(found, pixels, strict=True):
        check_rings(feature["geometry"]["coordinates"])
        shape = shapely.geometry.shape(feature["geometry"])
        moved = shapely.transform(shapely.geometry.shape(flat["geometry"]), lambda p: p @ AFFINE[:, :2].T + AFFINE[:, 2])
        assert shape.is_valid and moved.normalize().equals_exact(shape.normalize(), 1e-6)
        assert np.isclose(shape.area, moved.area, rtol=1e-9)


def check_gdal(folder, picture):
    for kind, crs in ((".map", "EPSG:32632"), ("", "EPSG:4326")):  # without a crs GeoJSON means longitude and latitude
        path = folder / f"{picture.name}{kind}.geojson"
        _, found = features(path)
        meta, _, geometry, fields = pyogrio.raw.read(path)
        assert len(geometry) == len(found)
        if not found:
            continue
        assert meta["crs"] == crs and meta["geometry_type"] == "MultiPolygon"
        labels = list(fields[list(meta["fields"]).index("label")])
        assert labels == [feature["properties"]["label"] for feature in found]
        for made, feature in zip(shapely.from_wkb(geometry), found, strict=True):
            assert made.equals_exact(shapely.geometry.shape(feature["geometry"]), 1e-9)


def check_rough(folder, picture):
    _, found = features(folder / f"{picture.name}.rough.geojson")
    _, exact = features(folder / f"{picture.name}.geojson")
    for feature, other in zip(found, exact, strict=True):
        check_rings_closed(feature["geometry"]["coordinates"])
        here, there = (sum(len(r) for p in f["geometry"]["coordinates"] for r in p) for f in (feature, other))
        assert here <= there
        assert [len(p) for p in feature["geometry"]["coordinates"]] == [len(p) for p in other["geometry"]["coordinates"]]


def check_rings_closed(coordinates):
    assert all(ring[0] == ring[-1] and len(ring) >= 4 for polygon in coordinates for ring in polygon)


def checks(folder, pictures):
    for check in (check_exact, check_map, check_gdal, check_rough):
        for picture in pictures:
            yield f"{check.__name__} {picture.name}", lambda c=check, p=picture: c(folder, p)
