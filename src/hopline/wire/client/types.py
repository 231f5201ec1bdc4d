"""The event types of this wire, by name: the 46 of the common contract and ours."""

OURS = frozenset({"worker_started", "worker_exited", "worker_signaled", "worker_retired", "journal_dropped"})
"""Beyond the seed."""

EVENT_TYPES = OURS | frozenset(
    {
        "server_started",
        "server_ready",
        "configuration_failed",
        "run_started",
        "experiments_changed",
        "run_interrupted",
        "run_status_changed",
        "run_finished",
        "run_failed",
        "run_configured",
        "framework_warning",
        "status_query",
        "control",
        "chat",
        "chat_thread_created",
        "invocation_started",
        "invocation_finished",
        "agent_execution_started",
        "agent_execution_activity_changed",
        "agent_execution_finished",
        "phase_started",
        "phase_finished",
        "agent_output_chunk",
        "subprocess_output",
        "output",
        "tool_call",
        "tool_result",
        "todo_update",
        "usage_update",
        "turn_usage_recorded",
        "judge_result",
        "benchmark_result",
        "round_finished",
        "gate_started",
        "gate_finished",
        "workspace_snapshot",
        "rate_limit_update",
        "quota_paused",
        "quota_resumed",
        "quota_abandoned",
        "quota_waiting",
        "quota_wait_cancelled",
        "provider_switched",
        "span_started",
        "span_updated",
        "span_ended",
    }
)

PHASES = {"phase_started": "phase", "phase_finished": "phase"}
"""The types whose payload has another `kind`."""

DIAGNOSED = frozenset(
    {
        "configuration_failed",
        "invocation_finished",
        "agent_execution_finished",
        "phase_finished",
        "run_failed",
        "run_interrupted",
    }
)
"""With status `failed` these carry a diagnostic."""
