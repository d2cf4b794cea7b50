// Every operation with operands of every kind: a typed node, or an error of the user's; never ours.
#include <random>

#include "ast_kit.h"
#include "check.h"

using namespace lcpy;
using namespace lcpy::ast;
using namespace lcpy::test;

namespace {

// Values of every tag, class and weakness, places and not.
std::vector<ExprId> pool(Kit& k) {
  std::vector<ExprId> all{k.i(0),   k.i(-1),     k.i(1ll << 40), k.u(~0ull),
                          k.d(1.5), k.d(-1e300), k.truth(true),  k.call(Op::SyncBlock, {})};
  int n = 0;
  for (std::string_view t : {"bool",
                             "byte",
                             "ushort",
                             "int",
                             "uint",
                             "long",
                             "ulong",
                             "half",
                             "float",
                             "double",
                             "bfloat16",
                             "vector<float8_e5m2,3>",
                             "vector<bool,3>",
                             "vector<int,3>",
                             "vector<uint,2>",
                             "vector<float,2>",
                             "vector<float,3>",
                             "vector<double,4>",
                             "matrix<float,3>",
                             "matrix<half,2>",
                             "array<int,4>",
                             "struct<4,int,float>"}) {
    all.push_back(k.arg(t, "v" + std::to_string(n++)));
    all.push_back(k.call(Op::Zero, {}, Kit::type(t)));
  }
  for (std::string_view t : {"buffer<int>", "buffer<float,2>", "buffer<void>", "texture<2,float>",
                             "bindless_array", "accel"}) {
    all.push_back(k.arg(t, "r" + std::to_string(n++)));
  }
  all.push_back(k.at_index(all[all.size() - 6], k.i(0)));
  return all;
}

// What every finished node satisfies.
void check_node(const Kit& k, ExprId e) {
  const ExprNode& n = k.node(e);
  CHECK(n.depth >= 1);
  bool lanes = n.kind == ExprKind::Binary && op_row(n.op).shape == Shape::NumBinary;
  if (!lanes) return;
  const ExprNode& a = k.node(ExprId(n.a));
  const ExprNode& b = k.node(ExprId(n.b));
  bool scaled = a.type.is_matrix() != b.type.is_matrix();
  CHECK(scaled || (a.type == b.type && a.type == n.type));
}

}  // namespace

TEST(any_operands_give_a_node_or_the_user_s_error) {
  std::mt19937 rng(3);
  Kit k;
  std::vector<ExprId> values = pool(k);
  const Type results[] = {Type(), Kit::type("int"), Kit::type("vector<float,3>"),
                          Kit::type("matrix<float,3>"), Kit::type("struct<4,int,float>")};
  int made = 0;
  for (int i = 0; i < kOpCount; ++i) {
    Op op = static_cast<Op>(i);
    int rounds = op_row(op).level == OpLevel::Refused ? 1 : 400;
    for (int round = 0; round < rounds; ++round) {
      std::vector<ExprId> args;
      for (uint32_t n = rng() % 5; n > 0; --n) args.push_back(values[rng() % values.size()]);
      try {
        check_node(k, k.call(op, args, results[rng() % std::size(results)]));
        ++made;
      } catch (const CompileError&) {
      } catch (const UnsupportedError&) {
        CHECK(op_row(op).level == OpLevel::Refused);
      } catch (const ArgumentError&) {
        CHECK(op_row(op).level == OpLevel::Kernel);
      }
    }
  }
  CHECK(made > 1000);
  k.f.finish();
}

// Each pair of values with each two-operand operation, so that no typing rule is left to chance.
TEST(every_pair_of_operands) {
  Kit k;
  std::vector<ExprId> values = pool(k);
  int made = 0;
  for (int i = 0; i <= static_cast<int>(Op::Max); ++i) {
    for (ExprId a : values) {
      for (ExprId b : values) {
        try {
          check_node(k, k.bin(static_cast<Op>(i), a, b));
          ++made;
        } catch (const CompileError& e) {
          const Diagnostic& d = e.diagnostics().at(0);
          CHECK(d.message.find('{') == std::string::npos);
          CHECK(!d.message.empty());
        }
      }
    }
  }
  CHECK(made > 3000);
}

TEST(conversions_of_every_pair) {
  Kit k;
  std::vector<ExprId> values = pool(k);
  for (ExprId a : values) {
    for (ExprId b : values) {
      Type t = k.node(b).type;
      for (int way = 0; way < 4; ++way) {
        try {
          ExprId e = way == 0   ? k.f.convert(a, t, "it", k.at)
                     : way == 1 ? k.f.cast(t, a, k.at)
                     : way == 2 ? k.f.bitcast(t, a, k.at)
                                : k.f.make(t, {&a, 1}, k.at);
          CHECK(k.node(e).type == t);
        } catch (const CompileError&) {
        }
      }
    }
  }
}
