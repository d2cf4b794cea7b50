# base/diagnostic.h, base/error.h and base/source.h, and the translator that every other declaration
# names: `except +translate` turns an exception of the core into one of lcpy.errors.
from libc.stdint cimport uint16_t, uint32_t
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <new>
    #include <string>
    #include <vector>
    #include "base/error.h"
    #include "base/source.h"

    namespace lcpy_door {

    // Makes the Python exception of (kind, text, diagnostics); set once by errors.pxi.
    static PyObject* make_exception = nullptr;

    static PyObject* python_text(const std::string& s) {
      return PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace");
    }
    static PyObject* python_notes(const std::vector<lcpy::Note>& notes) {
      PyObject* list = PyList_New(0);
      for (const lcpy::Note& n : notes) {
        PyObject* item = Py_BuildValue("(NIN)", python_text(lcpy::source_name(n.span.file)),
                                       n.span.line, python_text(n.text));
        if (!list || !item || PyList_Append(list, item) < 0) PyErr_Clear();
        Py_XDECREF(item);
      }
      return list;
    }
    static PyObject* python_diagnostics(const std::vector<lcpy::Diagnostic>& all) {
      PyObject* list = PyList_New(0);
      for (const lcpy::Diagnostic& d : all) {
        PyObject* item = Py_BuildValue(
            "(NNIIINNN)", python_text(lcpy::diag_code(d.code)),
            python_text(lcpy::source_name(d.span.file)), d.span.line,
            static_cast<unsigned>(d.span.column), static_cast<unsigned>(d.span.end_column),
            python_text(d.message), python_text(d.hint), python_notes(d.notes));
        if (!list || !item || PyList_Append(list, item) < 0) PyErr_Clear();
        Py_XDECREF(item);
      }
      return list;
    }
    static void raise(const char* kind, const std::string& text,
                      const std::vector<lcpy::Diagnostic>& all = {}) {
      PyObject* error = PyObject_CallFunction(make_exception, "sNN", kind, python_text(text),
                                              python_diagnostics(all));
      if (!error) return;  // making it failed: that error is set
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
      Py_DECREF(error);
    }

    // Called inside a catch block, with the GIL held.
    static void translate() {
      if (PyErr_Occurred()) return;
      try {
        throw;
      } catch (const lcpy::CompileError& e) {
        raise("CompileError", e.what(), e.diagnostics());
      } catch (const lcpy::UnsupportedError& e) {
        raise("UnsupportedError", e.what(), e.diagnostics());
      } catch (const lcpy::ArgumentError& e) {
        raise("ArgumentError", e.what());
      } catch (const lcpy::LoadError& e) {
        raise("LoadError", e.what());
      } catch (const lcpy::BugError& e) {
        raise("InternalError", e.what());
      } catch (const lcpy::Error& e) {
        raise("InternalError", e.what());
      } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
      } catch (const std::exception& e) {
        raise("InternalError", e.what());
      } catch (...) {
        raise("InternalError", "an unknown C++ exception");
      }
    }

    }  // namespace lcpy_door
    """
    void translate "lcpy_door::translate"()

cdef extern from "base/span.h" namespace "lcpy" nogil:
    cdef cppclass Span:
        uint32_t file
        uint32_t line
        uint16_t column
        uint16_t end_column

cdef extern from "base/source.h" namespace "lcpy" nogil:
    uint32_t register_source(
        const string& name, const string& text, uint32_t first_line) except +translate
    string source_name(uint32_t file) except +translate
    string source_line(uint32_t file, uint32_t line) except +translate

cdef extern from *:
    """
    namespace lcpy_door {
    // A diagnostic of the front end, by code; up to four arguments are filled in.
    static lcpy::Diagnostic front_diagnostic(unsigned code, lcpy::Span span,
                                             const std::vector<std::string>& args) {
      std::string_view v[4];
      for (size_t i = 0; i < args.size() && i < 4; ++i) v[i] = args[i];
      return lcpy::make_diagnostic(static_cast<lcpy::Diag>(code), span, {v[0], v[1], v[2], v[3]});
    }
    static void throw_compile_error(unsigned code, lcpy::Span span,
                                    const std::vector<std::string>& args) {
      throw lcpy::CompileError(front_diagnostic(code, span, args));
    }
    static void throw_unsupported(unsigned code, lcpy::Span span,
                                  const std::vector<std::string>& args) {
      throw lcpy::UnsupportedError(front_diagnostic(code, span, args));
    }

    struct DiagRow {
      unsigned code;
      const char* name;
      const char* message;
      const char* hint;
    };
    static const DiagRow diag_rows[] = {
    #define DIAG(code, name, message, hint) {code, #name, message, hint},
    #include "base/diag.def"
    #undef DIAG
    };
    static const int diag_row_count = sizeof(diag_rows) / sizeof(diag_rows[0]);

    }  // namespace lcpy_door
    """
    void throw_compile_error "lcpy_door::throw_compile_error"(
        unsigned code, Span span, const vector[string]& args) except +translate
    void throw_unsupported "lcpy_door::throw_unsupported"(
        unsigned code, Span span, const vector[string]& args) except +translate
    cdef cppclass DiagRow "lcpy_door::DiagRow":
        unsigned code
        const char* name
        const char* message
        const char* hint
    const DiagRow* diag_rows "lcpy_door::diag_rows"
    int diag_row_count "lcpy_door::diag_row_count"
