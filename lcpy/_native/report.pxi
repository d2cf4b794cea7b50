# What launches need to know of reports (asserts, traps, prints): the memory that a device's kernels
# write, and the tag that tells its launches apart. lcpy.run.report reads it and says what happened.
from lcpy._native.decl.kernel cimport (kLineHeader, kReportCount, kReportHeader, kReportLaunch,
                                       kReportLost, kReportSite, kReportThread, kReportUsed,
                                       kReportValues)

REPORT = {  # places in the report memory, in words
    "site": kReportSite, "launch": kReportLaunch, "thread": kReportThread,
    "values": kReportValues, "count": kReportCount, "used": kReportUsed, "lost": kReportLost,
    "header": kReportHeader, "line_header": kLineHeader,
}


cdef class ReportState:
    """One device's; base of lcpy.run.report.Reports."""
    cdef public object memory      # of launches that are not waited for; None before the first
    cdef public object lock        # held while such a launch is under way
    cdef public uint32_t launches  # the number of the last one, never 0 after it
    cdef public uint32_t capacity  # words for lines
    cdef public dict pending       # number of site 0 -> Sites, of launches nobody has looked after

    cdef int _write_tag(self, uint32_t first, uint32_t capacity, char* to) except -1:
        cdef uint32_t[4] tag
        self.launches += 1
        if self.launches == 0:
            self.launches = 1
        tag[0], tag[1], tag[2], tag[3] = first, self.launches, capacity, 0
        memcpy(to, tag, sizeof(tag))
        return 0


cdef bint _has_report(const char* memory):
    cdef const uint32_t* words = <const uint32_t*>memory
    return words[kReportSite] != 0 or words[kReportUsed] != 0 or words[kReportLost] != 0
