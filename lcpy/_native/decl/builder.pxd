# ast/builder.h
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from lcpy._native.decl.errors cimport Span, translate
from lcpy._native.decl.types cimport CType

# Ids travel as plain numbers on this side; the wrappers below give them their C++ types. A call
# through a null builder cannot occur: Builder makes its FunctionBuilder before anything else.
cdef extern from *:
    """
    #include <memory>
    #include <string>
    #include <string_view>
    #include <vector>
    #include "ast/builder.h"
    namespace lcpy_door {
    using lcpy::ast::ExprId;
    using lcpy::ast::ScopeId;
    using lcpy::ast::VariableId;
    using lcpy::ast::FunctionBuilder;
    using lcpy::Op;
    using lcpy::Span;
    using lcpy::Type;
    using BuilderPtr = std::shared_ptr<FunctionBuilder>;

    static Op op(int i) { return static_cast<Op>(i); }
    static std::vector<ExprId> exprs(const std::vector<uint32_t>& ids) {
      std::vector<ExprId> out;
      out.reserve(ids.size());
      for (uint32_t i : ids) out.push_back(ExprId(i));
      return out;
    }
    static BuilderPtr create(bool kernel, const std::string& name, Span span) {
      return FunctionBuilder::create(
          kernel ? FunctionBuilder::Kind::Kernel : FunctionBuilder::Kind::Callable, name, span);
    }
    static uint32_t argument(FunctionBuilder* b, Type t, const std::string& n, Span s) {
      return b->argument(t, n, s).value;
    }
    static uint32_t reference(FunctionBuilder* b, Type t, const std::string& n, Span s) {
      return b->reference(t, n, s).value;
    }
    static uint32_t local(FunctionBuilder* b, Type t, const std::string& n, Span s) {
      return b->local(t, n, s).value;
    }
    static uint32_t shared(FunctionBuilder* b, Type t, const std::string& n, Span s) {
      return b->shared(t, n, s).value;
    }
    static void set_block_size(FunctionBuilder* b, uint32_t x, uint32_t y, uint32_t z, Span s) {
      b->set_block_size({x, y, z}, s);
    }
    static void set_external(FunctionBuilder* b, const std::vector<std::string>& sources,
                             const std::vector<int>& usages, bool has_body) {
      lcpy::ast::External made;
      for (size_t i = 0; i + 1 < sources.size(); i += 2)
        made.texts.emplace_back(sources[i], sources[i + 1]);
      for (int u : usages) made.usages.push_back(static_cast<lcpy::ast::Usage>(u));
      made.has_body = has_body;
      b->set_external(std::move(made));
    }
    static uint32_t weak_bool(FunctionBuilder* b, bool v, Span s) {
      return b->weak_bool(v, s).value;
    }
    static uint32_t weak_int(FunctionBuilder* b, int64_t v, Span s) {
      return b->weak_int(v, s).value;
    }
    static uint32_t weak_uint(FunctionBuilder* b, uint64_t v, Span s) {
      return b->weak_uint(v, s).value;
    }
    static uint32_t weak_float(FunctionBuilder* b, double v, Span s) {
      return b->weak_float(v, s).value;
    }
    static uint32_t literal(FunctionBuilder* b, Type t, const std::string& bytes, Span s) {
      return b->literal(t, bytes.data(), s).value;
    }
    static uint32_t constant(FunctionBuilder* b, Type t, const std::string& bytes, Span s) {
      auto* data = reinterpret_cast<const std::byte*>(bytes.data());
      return b->constant(t, std::span<const std::byte>(data, bytes.size()), s).value;
    }
    static uint32_t ref(FunctionBuilder* b, uint32_t v, Span s) {
      return b->ref(VariableId(v), s).value;
    }
    static uint32_t unary(FunctionBuilder* b, int o, uint32_t a, Span s) {
      return b->unary(op(o), ExprId(a), s).value;
    }
    static uint32_t binary(FunctionBuilder* b, int o, uint32_t x, uint32_t y, Span s) {
      return b->binary(op(o), ExprId(x), ExprId(y), s).value;
    }
    static uint32_t conditional(FunctionBuilder* b, uint32_t c, uint32_t x, uint32_t y, Span s) {
      return b->conditional(ExprId(c), ExprId(x), ExprId(y), s).value;
    }
    static uint32_t member(FunctionBuilder* b, uint32_t a, uint32_t index, Span s) {
      return b->member(ExprId(a), index, s).value;
    }
    static uint32_t swizzle(FunctionBuilder* b, uint32_t a, const std::string& lanes, Span s) {
      return b->swizzle(ExprId(a), lanes, s).value;
    }
    static uint32_t access(FunctionBuilder* b, uint32_t a, const std::vector<uint32_t>& i, Span s) {
      return b->access(ExprId(a), exprs(i), s).value;
    }
    static uint32_t access_one(FunctionBuilder* b, uint32_t a, uint32_t i, Span s) {
      ExprId index(i);
      return b->access(ExprId(a), std::span<const ExprId>(&index, 1), s).value;
    }
    static void assert_(FunctionBuilder* b, uint32_t condition, const std::string& message,
                        Span s) {
      b->assert_(ExprId(condition), message, s);
    }
    static void print_(FunctionBuilder* b, const std::string& format,
                       const std::vector<uint32_t>& values, Span s) {
      b->print(format, exprs(values), s);
    }
    static uint32_t call_op(FunctionBuilder* b, int o, const std::vector<uint32_t>& args, Span s,
                            Type result) {
      return b->call(op(o), exprs(args), s, result).value;
    }
    static uint32_t call_function(FunctionBuilder* b, const BuilderPtr& callee,
                                  const std::vector<uint32_t>& args, Span s) {
      return b->call(callee, exprs(args), s).value;
    }
    static uint32_t make(FunctionBuilder* b, Type t, const std::vector<uint32_t>& args, Span s) {
      return b->make(t, exprs(args), s).value;
    }
    static uint32_t from_rows(FunctionBuilder* b, Type t, const std::vector<uint32_t>& rows,
                              Span s) {
      return b->from_rows(t, exprs(rows), s).value;
    }
    static uint32_t cast(FunctionBuilder* b, Type t, uint32_t a, Span s) {
      return b->cast(t, ExprId(a), s).value;
    }
    static uint32_t bitcast(FunctionBuilder* b, Type t, uint32_t a, Span s) {
      return b->bitcast(t, ExprId(a), s).value;
    }
    static uint32_t settle(FunctionBuilder* b, uint32_t a) { return b->settle(ExprId(a)).value; }
    static uint32_t convert(FunctionBuilder* b, uint32_t a, Type t, const std::string& what,
                            Span s) {
      return b->convert(ExprId(a), t, what, s).value;
    }
    static uint32_t once(FunctionBuilder* b, uint32_t a, const std::string& name, Span s) {
      return b->once(ExprId(a), name, s).value;
    }
    static bool is_place(FunctionBuilder* b, uint32_t a) { return b->is_place(ExprId(a)); }
    static Type expr_type(FunctionBuilder* b, uint32_t a) { return b->expr(ExprId(a)).type; }
    static bool is_weak(FunctionBuilder* b, uint32_t a) {
      return b->expr(ExprId(a)).weak != lcpy::ast::WeakKind::None;
    }
    static int64_t expr_variable(FunctionBuilder* b, uint32_t a) {
      const auto& node = b->expr(ExprId(a));
      return node.kind == lcpy::ast::ExprKind::Ref ? static_cast<int64_t>(node.index) : -1;
    }
    static Type variable_type(FunctionBuilder* b, uint32_t v) {
      return b->variable(VariableId(v)).type;
    }
    static int variable_usage(FunctionBuilder* b, uint32_t v) {
      return static_cast<int>(b->variable(VariableId(v)).usage);
    }
    static std::vector<uint32_t> arguments(FunctionBuilder* b) {
      std::vector<uint32_t> out;
      for (VariableId v : b->arguments()) out.push_back(v.value);
      return out;
    }
    static std::string variable_name(FunctionBuilder* b, uint32_t v) {
      return b->variable(VariableId(v)).name;
    }
    static PyObject* warnings(FunctionBuilder* b) { return python_diagnostics(b->warnings()); }
    static Type common_type(FunctionBuilder* b, const std::vector<uint32_t>& values,
                            const std::string& what, Span s) {
      return b->common_type(exprs(values), what, s);
    }
    static void assign(FunctionBuilder* b, uint32_t place, uint32_t value, Span s) {
      b->assign(ExprId(place), ExprId(value), s);
    }
    static void expression(FunctionBuilder* b, uint32_t a, Span s) { b->expression(ExprId(a), s); }
    static void break_(FunctionBuilder* b, Span s) { b->break_(s); }
    static void continue_(FunctionBuilder* b, Span s) { b->continue_(s); }
    static void return_none(FunctionBuilder* b, Span s) { b->return_(std::nullopt, s); }
    static void return_value(FunctionBuilder* b, uint32_t a, Span s) { b->return_(ExprId(a), s); }
    static uint32_t if_(FunctionBuilder* b, uint32_t c, Span s, uint8_t hint, uint32_t* other) {
      const auto& node = b->stmt(b->if_(ExprId(c), s, hint));
      *other = node.other.value;
      return node.scope.value;
    }
    static uint32_t loop(FunctionBuilder* b, Span s) { return b->stmt(b->loop(s)).scope.value; }
    static uint32_t for_(FunctionBuilder* b, uint32_t v, uint32_t begin, uint32_t end,
                         uint32_t step, Span s) {
      auto made = b->for_(VariableId(v), ExprId(begin), ExprId(end), ExprId(step), s);
      return b->stmt(made).scope.value;
    }
    static uint32_t switch_(FunctionBuilder* b, uint32_t v, Span s, uint8_t hint) {
      return b->stmt(b->switch_(ExprId(v), s, hint)).scope.value;
    }
    static uint32_t case_(FunctionBuilder* b, const std::vector<uint32_t>& literals, Span s) {
      return b->stmt(b->case_(exprs(literals), s)).scope.value;
    }
    static uint32_t default_(FunctionBuilder* b, Span s) {
      return b->stmt(b->default_(s)).scope.value;
    }
    static void push_scope(FunctionBuilder* b, uint32_t s) { b->push_scope(ScopeId(s)); }
    }  // namespace lcpy_door
    """
    cdef cppclass FunctionBuilder "lcpy::ast::FunctionBuilder":
        void pop_scope() except +translate
        void finish() except +translate nogil
        cbool finished()
        const string& name()
        CType return_type()
        uint64_t hash() except +translate
        string json() except +translate nogil
        string text() except +translate nogil
        size_t expr_count()
        void set_return_type(CType t) except +translate
        void comment(string text, Span s) except +translate
        void keep_place()
    ctypedef shared_ptr[FunctionBuilder] BuilderPtr "lcpy_door::BuilderPtr"

    BuilderPtr create "lcpy_door::create"(cbool kernel, const string& n, Span s) except +translate
    uint32_t argument "lcpy_door::argument"(
        FunctionBuilder*, CType, const string&, Span) except +translate
    uint32_t reference "lcpy_door::reference"(
        FunctionBuilder*, CType, const string&, Span) except +translate
    uint32_t local "lcpy_door::local"(
        FunctionBuilder*, CType, const string&, Span) except +translate
    uint32_t shared "lcpy_door::shared"(
        FunctionBuilder*, CType, const string&, Span) except +translate
    void set_block_size "lcpy_door::set_block_size"(
        FunctionBuilder*, uint32_t x, uint32_t y, uint32_t z, Span) except +translate
    uint32_t weak_bool "lcpy_door::weak_bool"(FunctionBuilder*, cbool, Span) except +translate
    uint32_t weak_int "lcpy_door::weak_int"(FunctionBuilder*, int64_t, Span) except +translate
    uint32_t weak_uint "lcpy_door::weak_uint"(FunctionBuilder*, uint64_t, Span) except +translate
    uint32_t weak_float "lcpy_door::weak_float"(FunctionBuilder*, double, Span) except +translate
    uint32_t literal "lcpy_door::literal"(
        FunctionBuilder*, CType, const string&, Span) except +translate
    uint32_t constant "lcpy_door::constant"(
        FunctionBuilder*, CType, const string&, Span) except +translate
    uint32_t ref "lcpy_door::ref"(FunctionBuilder*, uint32_t, Span) except +translate
    uint32_t unary "lcpy_door::unary"(FunctionBuilder*, int, uint32_t, Span) except +translate
    uint32_t binary "lcpy_door::binary"(
        FunctionBuilder*, int, uint32_t, uint32_t, Span) except +translate
    uint32_t conditional "lcpy_door::conditional"(
        FunctionBuilder*, uint32_t, uint32_t, uint32_t, Span) except +translate
    uint32_t member "lcpy_door::member"(
        FunctionBuilder*, uint32_t, uint32_t, Span) except +translate
    uint32_t swizzle "lcpy_door::swizzle"(
        FunctionBuilder*, uint32_t, const string&, Span) except +translate
    uint32_t access "lcpy_door::access"(
        FunctionBuilder*, uint32_t, const vector[uint32_t]&, Span) except +translate
    uint32_t access_one "lcpy_door::access_one"(
        FunctionBuilder*, uint32_t, uint32_t, Span) except +translate
    uint32_t call_op "lcpy_door::call_op"(
        FunctionBuilder*, int, const vector[uint32_t]&, Span, CType) except +translate
    void set_external "lcpy_door::set_external"(FunctionBuilder* b, const vector[string]& sources,
        const vector[int]& usages, cbool has_body) except +translate
    uint32_t call_function "lcpy_door::call_function"(
        FunctionBuilder*, const BuilderPtr&, const vector[uint32_t]&, Span) except +translate
    uint32_t make "lcpy_door::make"(
        FunctionBuilder*, CType, const vector[uint32_t]&, Span) except +translate
    uint32_t from_rows "lcpy_door::from_rows"(
        FunctionBuilder*, CType, const vector[uint32_t]&, Span) except +translate
    uint32_t cast "lcpy_door::cast"(FunctionBuilder*, CType, uint32_t, Span) except +translate
    uint32_t bitcast "lcpy_door::bitcast"(FunctionBuilder*, CType, uint32_t, Span) except +translate
    uint32_t settle "lcpy_door::settle"(FunctionBuilder*, uint32_t) except +translate
    uint32_t convert "lcpy_door::convert"(
        FunctionBuilder*, uint32_t, CType, const string&, Span) except +translate
    uint32_t once "lcpy_door::once"(
        FunctionBuilder*, uint32_t, const string&, Span) except +translate
    cbool is_place "lcpy_door::is_place"(FunctionBuilder*, uint32_t) except +translate
    CType expr_type "lcpy_door::expr_type"(FunctionBuilder*, uint32_t)
    cbool is_weak "lcpy_door::is_weak"(FunctionBuilder*, uint32_t)
    int64_t expr_variable "lcpy_door::expr_variable"(FunctionBuilder*, uint32_t)
    CType variable_type "lcpy_door::variable_type"(FunctionBuilder*, uint32_t)
    int variable_usage "lcpy_door::variable_usage"(FunctionBuilder*, uint32_t)
    vector[uint32_t] arguments "lcpy_door::arguments"(FunctionBuilder*)
    string variable_name "lcpy_door::variable_name"(FunctionBuilder*, uint32_t)
    object warnings "lcpy_door::warnings"(FunctionBuilder*)
    CType common_type "lcpy_door::common_type"(
        FunctionBuilder*, const vector[uint32_t]&, const string& what, Span) except +translate
    void assign "lcpy_door::assign"(FunctionBuilder*, uint32_t, uint32_t, Span) except +translate
    void expression "lcpy_door::expression"(FunctionBuilder*, uint32_t, Span) except +translate
    void break_ "lcpy_door::break_"(FunctionBuilder*, Span) except +translate
    void continue_ "lcpy_door::continue_"(FunctionBuilder*, Span) except +translate
    void return_none "lcpy_door::return_none"(FunctionBuilder*, Span) except +translate
    void assert_ "lcpy_door::assert_"(
        FunctionBuilder*, uint32_t, const string&, Span) except +translate
    void print_ "lcpy_door::print_"(
        FunctionBuilder*, const string&, const vector[uint32_t]&, Span) except +translate
    void return_value "lcpy_door::return_value"(FunctionBuilder*, uint32_t, Span) except +translate
    uint32_t if_ "lcpy_door::if_"(
        FunctionBuilder*, uint32_t, Span, uint8_t hint, uint32_t* other) except +translate
    uint32_t loop "lcpy_door::loop"(FunctionBuilder*, Span) except +translate
    uint32_t for_ "lcpy_door::for_"(
        FunctionBuilder*, uint32_t, uint32_t, uint32_t, uint32_t, Span) except +translate
    uint32_t switch_ "lcpy_door::switch_"(
        FunctionBuilder*, uint32_t, Span, uint8_t hint) except +translate
    uint32_t case_ "lcpy_door::case_"(
        FunctionBuilder*, const vector[uint32_t]&, Span) except +translate
    uint32_t default_ "lcpy_door::default_"(FunctionBuilder*, Span) except +translate
    void push_scope "lcpy_door::push_scope"(FunctionBuilder*, uint32_t) except +translate
