# ops/op.h
cdef extern from *:
    """
    #include "ops/op.h"
    namespace lcpy_door {
    // One row of op.def as plain text, for the Python side's tables.
    struct OpFacts {
      const char *name, *python_name, *category, *shape, *usage, *level, *sync, *reason, *doc;
    };
    static const OpFacts op_facts[] = {
    #define OP(name, python, category, shape, usage, level, sync, doc) \\
      {#name, python, #category, #shape, #usage, #level, #sync, "", doc},
    #define REFUSED(name, python, category, usage, reason, doc) \\
      {#name, python, #category, "", #usage, "Refused", "", reason, doc},
    #include "ops/op.def"
    #undef OP
    #undef REFUSED
    };
    struct ShapeFacts {
      const char *name, *doc;
    };
    static const ShapeFacts shape_facts[] = {
    #define SHAPE(name, doc) {#name, doc},
    #include "ops/shape.def"
    #undef SHAPE
    };
    static const int shape_count = sizeof(shape_facts) / sizeof(shape_facts[0]);
    }  // namespace lcpy_door
    """
    cdef cppclass ShapeFacts "lcpy_door::ShapeFacts":
        const char* name
        const char* doc
    const ShapeFacts* shape_facts "lcpy_door::shape_facts"
    int shape_count "lcpy_door::shape_count"
    int op_count "lcpy::kOpCount"
    cdef cppclass OpFacts "lcpy_door::OpFacts":
        const char* name
        const char* python_name
        const char* category
        const char* shape
        const char* usage
        const char* level
        const char* sync
        const char* reason
        const char* doc
    const OpFacts* op_facts "lcpy_door::op_facts"
