# Python kernels compiled at build time, without any driver:
#
#   lcpy_add_kernels(<target> FILES <file.py[:kernel,…]>…
#     [TARGETS spirv cuda opencl cpu]  default spirv
#     [FORMAT header|artifact|code|text]  default header
#     [VULKAN 1.2] [DRIVER any] [MATH ieee|strict|fast] [DIRECTORY <folder>])
#
# <target> is an interface library: linking it gives the folder of the headers, and has the kernels
# compiled first. LCPY_KERNELS of <target> are the files that are made, such as blur.spirv.h. They are
# made again when a kernel, or a Python file that it imports, changes. The Python of LCPY_PYTHON must
# have lcpy.
include_guard(GLOBAL)

function(lcpy_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FORMAT;VULKAN;DRIVER;MATH;DIRECTORY" "FILES;TARGETS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_FILES)
    message(FATAL_ERROR "lcpy_add_kernels(${target}): FILES wanted; unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS spirv)
  endif()
  if(NOT arg_FORMAT)
    set(arg_FORMAT header)
  endif()
  if(NOT arg_DIRECTORY)
    set(arg_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target})
  endif()
  if(NOT LCPY_PYTHON)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(LCPY_PYTHON ${Python3_EXECUTABLE} CACHE FILEPATH "The Python that has lcpy")
  endif()
  list(JOIN arg_TARGETS "," targets)
  set(options --target ${targets} --format ${arg_FORMAT} -o ${arg_DIRECTORY})
  foreach(name VULKAN DRIVER MATH)
    if(arg_${name})
      string(TOLOWER ${name} option)
      list(APPEND options --${option} ${arg_${name}})
    endif()
  endforeach()

  set(all "")
  foreach(file IN LISTS arg_FILES)
    string(REGEX REPLACE ":[^/]*$" "" source ${file})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    # Which kernels there are is asked while configuring, so that their files are known by name.
    execute_process(
      COMMAND ${LCPY_PYTHON} -m lcpy compile ${file} ${options} --list
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      OUTPUT_VARIABLE made ERROR_VARIABLE errors RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "lcpy_add_kernels(${target}): ${file}: ${errors}")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    string(STRIP "${made}" made)
    string(REPLACE "\n" ";" made "${made}")
    list(LENGTH all before)  # files of one name may stand in several folders
    set(depfile ${CMAKE_CURRENT_BINARY_DIR}/${target}.${before}.d)
    add_custom_command(
      OUTPUT ${made}
      COMMAND ${LCPY_PYTHON} -m lcpy compile ${file} ${options} --depfile ${depfile}
      DEPENDS ${source} DEPFILE ${depfile}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      COMMENT "lcpy: ${file}" VERBATIM)
    list(APPEND all ${made})
  endforeach()

  add_custom_target(${target}_files DEPENDS ${all})
  add_library(${target} INTERFACE)
  target_include_directories(${target} INTERFACE ${arg_DIRECTORY})
  add_dependencies(${target} ${target}_files)
  set_target_properties(${target} PROPERTIES LCPY_KERNELS "${all}")
endfunction()
