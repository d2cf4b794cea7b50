// The table: unique names, look-ups both ways.
#include "ops/op.h"

#include <set>
#include <string>

#include "check.h"

using namespace lcpy;

TEST(rows_are_found_by_name) {
  for (int i = 0; i < kOpCount; ++i) {
    const OpRow& row = op_row(static_cast<Op>(i));
    CHECK(find_op(row.name) == row.op);
    if (!row.python_name.empty()) CHECK(find_python_op(row.python_name) == row.op);
  }
  CHECK(find_op("Add") == Op::Add);
  CHECK(find_python_op("min") == Op::Min);
  CHECK_EQ(static_cast<int>(find_op("Nothing")), kOpCount);
  CHECK_EQ(static_cast<int>(find_python_op("")), kOpCount);
}

TEST(usages_are_stated) {
  CHECK(op_row(Op::BufferWrite).usage == OpUsage::Write0);
  CHECK(op_row(Op::AtomicAdd).usage == OpUsage::ReadWrite0);
  CHECK(op_row(Op::BufferLength).usage == OpUsage::Nothing);
  CHECK(op_row(Op::SyncBlock).sync == OpSync::Uniform);
}

TEST(refused_rows_have_reasons) {
  for (int i = 0; i < kOpCount; ++i) {
    const OpRow& row = op_row(static_cast<Op>(i));
    if (row.level == OpLevel::Refused) CHECK(row.reason.size() > 10);
  }
}

namespace {

struct Reference {
  int number;
  std::string_view name;
  Op row;
};
// A name that has no row does not compile.
constexpr Reference kReference[] = {
#define REFERENCE(number, name, row) {number, name, Op::row},
#include "reference.def"
#undef REFERENCE
};

}  // namespace

TEST(every_call_of_the_reference_has_a_row) {
  int next = 0;
  std::set<std::string_view> names;
  for (const Reference& r : kReference) {
    CHECK_EQ(r.number, next++);
    CHECK(names.insert(r.name).second);
    CHECK(!op_row(r.row).doc.empty());
  }
  CHECK_EQ(next, 449);
}

TEST(names_are_unique) {
  std::set<std::string_view> names, python;
  for (int i = 0; i < kOpCount; ++i) {
    const OpRow& row = op_row(static_cast<Op>(i));
    CHECK(names.insert(row.name).second);
    if (!row.python_name.empty()) CHECK(python.insert(row.python_name).second);
  }
}

// Ids are written to files: these are fixed points. A row that moves breaks one of them.
TEST(ids_are_stable) {
  CHECK_EQ(static_cast<int>(Op::Neg), 0);
  CHECK_EQ(static_cast<int>(Op::IfElse), 25);
  CHECK_EQ(static_cast<int>(Op::IsInf), 67);
  CHECK_EQ(static_cast<int>(Op::SyncBlock), 125);
  CHECK_EQ(static_cast<int>(Op::Return), 153);
  CHECK_EQ(static_cast<int>(Op::TensorBatchMatmul), 477);
}
