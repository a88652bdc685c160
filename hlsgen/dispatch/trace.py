"""What ran, in the columns of CEDR's logs, for whatever reads these.

Source: the formats of timing_trace.log and appruntime_trace.log that CEDR's API runtime writes (github
UA-RCL/CEDR, src-api/runtime.cpp of December 2023).
"""

from __future__ import annotations

from hlsgen.dispatch.figures import spans
from hlsgen.dispatch.simulation import Run

TIMING, RUNTIMES = "timing_trace.log", "appruntime_trace.log"


def timing_trace(run: Run) -> str:
    """A line for each task, by start; nanoseconds since the simulation began."""
    lines = []
    for one in run.executions:
        instance = run.instances[one.instance]
        application = run.applications[instance.application]
        lines.append(
            f"app_id: {instance.id}, app_name: {application.name}, task_id: {one.task}, "
            f"task_name: {application.tasks[one.task].name}, "
            f"resource_name: {run.node.elements[one.element].name}, ref_start_time: {one.start}, "
            f"ref_stop_time: {one.end}, actual_exe_time: {one.end - one.start}\n"
        )
    return "".join(lines)


def runtime_trace(run: Run) -> str:
    """A line for each instance, by end. It begins when it arrives: that takes no time here."""
    lines = []
    for instance, (_, end) in sorted(zip(run.instances, spans(run), strict=True), key=lambda one: one[1][1]):
        lines.append(
            f"app_id: {instance.id}, app_name: {run.applications[instance.application].name}, "
            f"ref_arrival_time: {instance.arrival}, ref_start_time: {instance.arrival}, "
            f"ref_end_time: {end}, app_runtime: {end - instance.arrival}, "
            f"app_lifetime: {end - instance.arrival} \n"
        )
    return "".join(lines)
