# cmake -DINPUT=file -DOUTPUT=file.inc -P embed_file.cmake
# Writes the bytes of a file as the inside of a C array.
if(NOT INPUT OR NOT OUTPUT)
  message(FATAL_ERROR "embed_file.cmake needs -DINPUT=file and -DOUTPUT=file.inc")
endif()
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
# Line breaks each 64 bytes (5 characters a byte), which compilers and editors like better than one long line.
string(REPEAT "0x..," 64 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "${bytes}\n")
