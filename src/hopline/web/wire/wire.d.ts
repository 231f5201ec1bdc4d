/**
 * The client wire, protocol version 1 (docs/wire/client.md). Made from docs/wire/schema by `make docs`; not written by
 * hand. A word of an open set is its known words or any other string.
 */

/** What became of a command when its Response was written. */
export interface Ack {
  action: "pause" | "resume" | "steer" | "stop" | "interrupt" | "input" | "resize" | "restart" | (string & {});
  status: "pending" | "consumed" | "delivered" | "accepted" | (string & {});
}

/** An agent's turn that has started and not finished. */
export interface ActiveExecution {
  execution_id: string;
  agent_kind: string;
  round_label: string;
  stage: string;
  attempt: number | null;
  assignment: string;
  started_at: string;
  activity: Activity;
  provider: string | null;
  model: string | null;
}

/** One part of a deferred list; the cursor is that of the last frame of its batch. */
export interface ActiveExecutionsChunk {
  type: "active_executions_chunk";
  checkpoint_id: string;
  part: number;
  parts: number;
  payload: string;
  through_sequence: number;
  store_id: string;
  history_after_sequence: number;
}

/** What an execution does at the moment, where `kind` is always agent_execution_activity_changed. */
export interface Activity {
  kind: "agent_execution_activity_changed" | (string & {});
  mode: "thinking" | "responding" | "tool" | "waiting" | (string & {});
  summary: string;
  tool: string | null;
}

/** It does something else now. */
export interface AgentExecutionActivityChanged {
  kind: "agent_execution_activity_changed";
  mode: "thinking" | "responding" | "tool" | "waiting" | (string & {});
  summary: string;
  tool: string | null;
}

/** The turn is over; `result` keeps the agent's raw text. */
export interface AgentExecutionFinished {
  kind: "agent_execution_finished";
  result: unknown;
  error: string | null;
  reply: TypedReply | null;
}

/** An agent takes a turn. */
export interface AgentExecutionStarted {
  kind: "agent_execution_started";
  stage: string;
  attempt: number | null;
  system_prompt: string;
  user_prompt: string;
  activity: Activity;
  provider: string | null;
  model: string | null;
}

/** A piece of what an agent says. */
export interface AgentOutputChunk {
  kind: "agent_output_chunk";
  channel: "assistant" | "analysis" | "tool" | "diagnostic" | "prompt" | (string & {});
  content: string;
  status: AgentStatus | null;
}

/** Where the agent stood when it wrote or called. */
export interface AgentStatus {
  progress: unknown;
  agent_label: string | null;
  elapsed_seconds: number;
  input_tokens: number;
  context_window: number | null;
}

/** One measurement. */
export interface BenchmarkResult {
  kind: "benchmark_result";
  metric: string;
  value: number;
  unit: string;
}

/** What measures it. */
export interface Benchmarks {
  evaluator: Evaluator | null;
}

/** One file of a round. */
export interface ChangedFile {
  path: string;
  change: "added" | "modified" | "deleted" | "renamed" | (string & {});
  renamed_from: string | null;
}

/** A question's answer; the question is the event's text, its status `answered`. */
export interface Chat {
  kind: "chat";
  answer: string;
  thread_title: string | null;
  invocation_id: string | null;
}

/** The answer to query.chat. */
export interface ChatAnswer {
  question: string;
  answer: string;
  effect: "none";
  thread_id: string | null;
}

/** A model that a thread may have. */
export interface ChatModel {
  model: string;
  source: "run" | "role" | "suggested" | (string & {});
  default: boolean;
}

/** What query.chat_options offers. */
export interface ChatOptions {
  providers: ChatProvider[];
}

/** A provider and its models. */
export interface ChatProvider {
  provider: string;
  models: ChatModel[];
}

/** A thread of questions to one agent. */
export interface ChatThread {
  thread_id: string;
  title: string;
  provider: string;
  model: string;
}

/** A thread of questions to one agent. */
export interface ChatThreadCreated {
  kind: "chat_thread_created";
  thread_id: string;
  title: string;
  provider: string;
  model: string;
  created_at: string;
}

/** Beyond the seed: bytes for the worker's stdin, or its end; the Response comes when they are accepted. `text` and `bytes_base64` exclude one another; `close` may stand alone or follow the bytes of the same request. */
export interface CommandInput {
  type: "command.input";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  text?: string | null;
  bytes_base64?: string | null;
  close?: boolean;
}

/** Beyond the seed: SIGINT to the direct worker; the Response waits for the receipt. */
export interface CommandInterrupt {
  type: "command.interrupt";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
}

/** Pause at the agent's next boundary. */
export interface CommandPause {
  type: "command.pause";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  mode?: "after_current_agent_call";
}

/** Beyond the seed: the size of the worker's pseudo-terminal, in cells. Refused with `no_terminal` without one. */
export interface CommandResize {
  type: "command.resize";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  columns: number;
  rows: number;
}

/** Beyond the seed: retire this generation and, once it is gone, launch the next. */
export interface CommandRestart {
  type: "command.restart";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  grace_ms?: number | null;
}

/** What a command left. */
export interface CommandResult {
  kind: "command";
  stdout: string;
  stderr: string;
  exit_code: number | null;
  duration: number | null;
}

/** Go on, now or when a provider's capacity is back; `fallback` excludes the latter (`invalid_request`). */
export interface CommandResume {
  type: "command.resume";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  fallback?: boolean;
  when?: "capacity_returns" | "now";
}

/** Words for the agent, taken at its next boundary. */
export interface CommandSteer {
  type: "command.steer";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  text: string;
}

/** Retire the worker and end the run as stopped. */
export interface CommandStop {
  type: "command.stop";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  mode?: "after_current_agent_call";
  grace_ms?: number | null;
}

/** The run could not be configured. */
export interface ConfigurationFailed {
  kind: "configuration_failed";
  code: string;
  stage: string;
  message: string;
  usage: string | null;
  exit_code: number;
}

/** A process of the run that outlived its worker. */
export interface Descendant {
  pid: number;
  name: string;
  started_at: string;
  start_time: number;
}

/** What became of everything the worker started. */
export interface Descendants {
  state: "gone" | "remaining" | "unknown" | (string & {});
  processes: Descendant[];
}

/** One file's change, cut at 200,000 characters on a line end. */
export interface DesignPatch {
  base: string;
  head: string;
  path: string;
  renamed_from: string | null;
  patch: string | null;
  truncated: boolean;
}

/** What one round changed. */
export interface DesignRound {
  round: number;
  commit: string;
  base: string | null;
  files: ChangedFile[] | null;
}

/** What went wrong, for a person and for a program. */
export interface Diagnostic {
  id: string;
  code: "invalid_value" | "permission_denied" | "not_found" | "timeout" | "operation_failed" | "run_read_only" | "request_too_large" | "invalid_request" | "capacity_wait_unavailable" | "stream_failed" | "interrupted" | "input_closed" | "worker_ended" | "worker_failed" | "worker_lost" | "no_terminal" | "too_many_connections" | (string & {});
  summary: string;
  detail: string | null;
  hint: string | null;
  scope: "configuration" | "invocation" | "phase" | "run" | "request" | "protocol" | "transport" | (string & {});
  severity: "warning" | "error" | "fatal" | (string & {});
  retryability: "automatic" | "manual" | "never" | "unknown" | (string & {});
  cause_id: string | null;
  debug_ref: string | null;
  source: string | null;
  validation_paths: ((string | number)[])[] | null;
}

/** The evaluator package that the task pins. */
export interface Evaluator {
  name: string;
  version: string;
}

/** Events in sequence order; a payload construct, not framing (WP-GRANULARITY). */
export interface EventBatch {
  type: "event_batch";
  events: RunEvent[];
  through_sequence: number;
  active_executions: ActiveExecution[] | null;
  active_executions_checkpoint_id: string | null;
  store_id: string;
  history_after_sequence: number;
  rebootstrap: boolean;
}

/** Which state of the experiments the client holds. */
export interface ExperimentCursor {
  run_id: string;
  projection_id: string;
  revision: number;
}

/** How `experiments` is to be applied: a reset replaces all, a delta upserts and then removes. */
export interface ExperimentUpdate {
  run_id: string;
  projection_id: string;
  from_revision: number | null;
  through_revision: number;
  reset: boolean;
  removed_hypothesis_ids: string[];
}

/** query.experiments would give something else now. */
export interface ExperimentsChanged {
  kind: "experiments_changed";
  reason: "project_attached" | "active_hypothesis_changed" | "round_persisted" | (string & {});
  revision: number | null;
}

/** Something a person should know; also in the envelope's diagnostic. */
export interface FrameworkWarning {
  kind: "framework_warning";
  summary: string;
  detail: string | null;
  source: "gates" | "git_tracking" | "loop" | "gpu" | "skypilot" | "other" | (string & {});
  source_label: string | null;
}

/** The stage is over; whether it passed is the event's status. */
export interface GateFinished {
  kind: "gate_finished";
  gate: "build" | "accuracy" | "benchmark" | (string & {});
  recipe: string | null;
  reused: boolean;
  metric: string | null;
  value: number | null;
  unit: string | null;
  output_tail: string | null;
  source: "gates" | "git_tracking" | "loop" | "gpu" | "skypilot" | "other" | (string & {});
  source_label: string | null;
}

/** A stage of a measurement begins. */
export interface GateStarted {
  kind: "gate_started";
  gate: "build" | "accuracy" | "benchmark" | (string & {});
  recipe: string | null;
  command: string | null;
  source: "gates" | "git_tracking" | "loop" | "gpu" | "skypilot" | "other" | (string & {});
  source_label: string | null;
}

/** One hypothesis and what became of it. */
export interface HypothesisEntry {
  hypothesis_id: string;
  identified: boolean;
  title: string;
  claim: string | null;
  action: string | null;
  first_round: number | null;
  last_round: number | null;
  rounds: HypothesisRound[];
  resolved_outcome: string | null;
  judge_verdict: "pass" | "fail" | (string & {}) | null;
  perf_metric: number | null;
  perf_unit: string | null;
  perf_delta_pct: number | null;
  perf_metric_name: string | null;
  perf_direction: "max" | "min" | (string & {}) | null;
  perf_baseline_value: number | null;
  perf_baseline_round: number | null;
  perf_baseline_commit: string | null;
  perf_delta_reason: "no_baseline_yet" | "baseline_unresolved" | "not_framework_measured" | (string & {}) | null;
  kept: boolean | null;
  strategy_disposition: "available" | "parked" | "abandoned" | (string & {}) | null;
  strategy_reason: string | null;
  active: boolean;
}

/** One round of a hypothesis. */
export interface HypothesisRound {
  round: number;
  passed: boolean | null;
  reviewed: boolean | null;
  hypothesis_outcome: "continue" | "supported" | "nominated" | "disproven" | "implementation_failed" | "inconclusive" | "blocked" | "proven" | "rejected" | "unmeasured" | (string & {}) | null;
  judge_verdict: "pass" | "fail" | "deferred" | (string & {}) | null;
  perf_metric: number | null;
  perf_unit: string | null;
  perf_delta_pct: number | null;
  commit: string | null;
  official_evaluation: boolean;
  candidate_disposition: "unassessed" | "discard" | "prerequisite" | "pareto_frontier" | (string & {}) | null;
}

/** Legacy twin of agent_execution_finished; readers get that instead. */
export interface InvocationFinished {
  kind: "invocation_finished";
  result: unknown;
  error: string | null;
}

/** Legacy twin of agent_execution_started; readers get that instead. */
export interface InvocationStarted {
  kind: "invocation_started";
  system_prompt: string;
  user_prompt: string;
}

/** One node of the iterations; its kind is open. */
export interface Iteration {
  iteration_id: string;
  parent_id: string | null;
  kind: "round" | "attempt" | (string & {});
  ordinal: number;
  title: string;
  status: string;
  verdict: string | null;
  round_label: string | null;
  span_id: string | null;
  child_count: number;
  first_sequence: number | null;
  last_sequence: number | null;
}

/** One page; a client that has applied `cursor` takes the same page again and no other. */
export interface IterationsPage {
  kind: "page";
  run_id: string;
  projection_id: string;
  revision: number;
  parent_id: string | null;
  cursor: string;
  items: Iteration[];
  next_cursor: string | null;
}

/** There is no page, and why. */
export interface IterationsUnavailable {
  kind: "unavailable";
  reason: "not_attached" | "not_supported" | "stale_cursor" | "unknown_parent" | (string & {});
  detail: string | null;
}

/** Beyond the seed: drop-oldest took these events away. */
export interface JournalDropped {
  kind: "journal_dropped";
  first_sequence: number;
  last_sequence: number;
  bytes: number;
}

/** What a tool gave as data. */
export interface JsonResult {
  kind: "json";
  value: Record<string, unknown> | unknown[];
}

/** A judge's word on an attempt. */
export interface JudgeResult {
  kind: "judge_result";
  verdict: "pass" | "fail" | (string & {});
  feedback: string;
  attempt: number;
}

/** What the run is to achieve. */
export interface Objective {
  text: string;
  metric: string | null;
  correctness_check: string[];
  unit: string | null;
  direction: "max" | "min" | (string & {}) | null;
}

/** A line of a backend's own. */
export interface Output {
  kind: "output";
  stream: "stdout" | "stderr" | (string & {});
  source: string;
  content: string;
}

/** What the rounds are measured against; frozen for older frontends. */
export interface PerformanceContext {
  objective_metric: string | null;
  objective_unit: string | null;
  objective_direction: "max" | "min" | (string & {}) | null;
  objective_baseline_value: number | null;
  objective_baseline_round: number | null;
  objective_baseline_commit: string | null;
  objective_description: string | null;
}

/** Of phase_started and phase_finished. */
export interface Phase {
  kind: "phase";
  phase: string;
  attempt: number | null;
}

/** The stream failed; the server closes after it (WP-PROTOCOL-ERROR). */
export interface ProtocolError {
  type: "protocol_error";
  request_id: string | null;
  client_id: string;
  code: string;
  message: string;
  diagnostic: Diagnostic | null;
}

/** The run goes on with another provider. */
export interface ProviderSwitched {
  kind: "provider_switched";
  from_provider: string;
  to_provider: string;
  to_model: string;
  reason: "policy" | "operator" | (string & {});
  detail: string;
}

/** A question about the run, on a connection of its own (WP-ROLES); without an agent the record answers. */
export interface QueryChat {
  type: "query.chat";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  text: string;
  thread_id?: string | null;
}

/** The providers and models that a chat thread may have. */
export interface QueryChatOptions {
  type: "query.chat_options";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
}

/** A new thread with an agent of this provider and model. */
export interface QueryChatThreadCreate {
  type: "query.chat_thread_create";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  provider: string;
  model: string;
  title?: string | null;
}

/** What each round changed in the workspace. */
export interface QueryDesign {
  type: "query.design";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
}

/** One file's change between two commits that `query.design` lists. */
export interface QueryDesignPatch {
  type: "query.design_patch";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  base: string;
  head: string;
  path: string;
}

/** Events with `after_sequence` < sequence < `before_sequence`, at most one Response's worth, oldest first. */
export interface QueryEvents {
  type: "query.events";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  after_sequence?: number;
  before_sequence?: number | null;
  timeout_ms?: number;
}

/** The hypotheses, or what changed since `after`. */
export interface QueryExperiments {
  type: "query.experiments";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  after?: ExperimentCursor | null;
}

/** Every event, when one Response holds them. */
export interface QueryHistory {
  type: "query.history";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
}

/** One page of roots, or of the direct children of `parent_id`. */
export interface QueryIterations {
  type: "query.iterations";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  parent_id?: string | null;
  cursor?: string | null;
  limit?: number;
}

/** What each round measured. */
export interface QueryPerformance {
  type: "query.performance";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
}

/** The fold of the run's events. */
export interface QuerySnapshot {
  type: "query.snapshot";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
}

/** What a terminal frontend starts with. */
export interface QueryTuiDefaults {
  type: "query.tui_defaults";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
}

/** The run gives up on the provider. */
export interface QuotaAbandoned {
  kind: "quota_abandoned";
  provider: string;
  condition: "quota_exhausted" | "rate_limited" | (string & {});
  detail: string;
  reason: string;
}

/** The run is paused on a limit. */
export interface QuotaPaused {
  kind: "quota_paused";
  provider: string;
  condition: "quota_exhausted" | "rate_limited" | (string & {});
  detail: string;
  resets_at: number | null;
  resumes_at: number | null;
  policy: "pause" | "wait" | "fail" | "fallback" | (string & {});
  fallback_provider: string | null;
  fallback_model: string | null;
}

/** The run goes on. */
export interface QuotaResumed {
  kind: "quota_resumed";
  provider: string;
  reason: "operator" | "wait_elapsed" | (string & {});
}

/** The wait was ended by a person. */
export interface QuotaWaitCancelled {
  kind: "quota_wait_cancelled";
  provider: string;
  reason: "resumed" | "paused" | (string & {});
}

/** A wait for capacity is armed. */
export interface QuotaWaiting {
  kind: "quota_waiting";
  provider: string;
  resumes_at: number | null;
}

/** What a provider says of its limit. */
export interface RateLimitUpdate {
  kind: "rate_limit_update";
  provider: string | null;
  window: string | null;
  limit: string | number | null;
  used_fraction: number | null;
  resets_at: number | null;
  window_minutes: number | null;
  exhausted: boolean;
}

export type Request = Subscribe | QuerySnapshot | QueryEvents | QueryHistory | QueryChat | QueryChatThreadCreate | QueryChatOptions | QueryTuiDefaults | QueryPerformance | QueryExperiments | QueryDesign | QueryDesignPatch | QueryIterations | CommandPause | CommandResume | CommandSteer | CommandStop | CommandInterrupt | CommandInput | CommandResize | CommandRestart;

/** Exactly one a request, correlated by `request_id`; it has no `type`. */
export interface Response {
  protocol_version: number;
  request_id: string;
  client_id: string;
  timestamp: string;
  ok: boolean;
  error: string | null;
  diagnostic: Diagnostic | null;
  ack: Ack | null;
  chat: ChatAnswer | null;
  chat_thread: ChatThread | null;
  chat_options: ChatOptions | null;
  tui_defaults: TuiDefaults | null;
  snapshot: RunSnapshot | null;
  events: RunEvent[];
  performance: RoundPerformance[];
  performance_context: PerformanceContext | null;
  experiments: HypothesisEntry[];
  experiment_update: ExperimentUpdate | null;
  experiments_ready: boolean | null;
  design: DesignRound[];
  design_ready: boolean | null;
  design_patch: DesignPatch | null;
  iterations: IterationsPage | IterationsUnavailable | null;
}

/** A round is over. */
export interface RoundFinished {
  kind: "round_finished";
  attempts: number;
  judge_verdict: "pass" | "fail" | "skipped" | (string & {});
  perf_metric: number | null;
  perf_unit: string | null;
  profile_skipped: boolean;
}

/** What one round measured. */
export interface RoundPerformance {
  round: number;
  perf_metric: number;
  perf_unit: string;
  passed: boolean;
  profile_skipped: boolean;
}

/** What the loop runs with. */
export interface RunConfigured {
  kind: "run_configured";
  run_log_path: string;
  project_root: string;
  model: string | null;
  objective: string | null;
  search_policy: string | null;
  benchmark_contract: boolean;
  pareto_objectives: unknown;
  source: "gates" | "git_tracking" | "loop" | "gpu" | "skypilot" | "other" | (string & {});
}

/** One recorded fact. Unknown keys and types pass, so that an older reader follows a newer run. */
export interface RunEvent {
  protocol_version: number;
  sequence: number;
  run_id: string;
  timestamp: string;
  type: "agent_execution_activity_changed" | "agent_execution_finished" | "agent_execution_started" | "agent_output_chunk" | "benchmark_result" | "chat" | "chat_thread_created" | "configuration_failed" | "control" | "experiments_changed" | "framework_warning" | "gate_finished" | "gate_started" | "invocation_finished" | "invocation_started" | "journal_dropped" | "judge_result" | "output" | "phase_finished" | "phase_started" | "provider_switched" | "quota_abandoned" | "quota_paused" | "quota_resumed" | "quota_wait_cancelled" | "quota_waiting" | "rate_limit_update" | "round_finished" | "run_configured" | "run_failed" | "run_finished" | "run_interrupted" | "run_started" | "run_status_changed" | "server_ready" | "server_started" | "span_ended" | "span_started" | "span_updated" | "status_query" | "subprocess_output" | "todo_update" | "tool_call" | "tool_result" | "turn_usage_recorded" | "usage_update" | "worker_exited" | "worker_retired" | "worker_signaled" | "worker_started" | "workspace_snapshot" | (string & {});
  text: string;
  diagnostic: Diagnostic | null;
  status: "active" | "answered" | "pending" | "consumed" | "delivered" | "completed" | "failed" | "cancelled" | "interrupted" | (string & {}) | null;
  round_label: string | null;
  agent_kind: string | null;
  invocation_id: string | null;
  execution_id: string | null;
  chat_thread_id: string | null;
  data: null | AgentExecutionActivityChanged | AgentExecutionFinished | AgentExecutionStarted | AgentOutputChunk | BenchmarkResult | Chat | ChatThreadCreated | ConfigurationFailed | ExperimentsChanged | FrameworkWarning | GateFinished | GateStarted | InvocationFinished | InvocationStarted | JournalDropped | JudgeResult | Output | Phase | ProviderSwitched | QuotaAbandoned | QuotaPaused | QuotaResumed | QuotaWaitCancelled | QuotaWaiting | RateLimitUpdate | RoundFinished | RunConfigured | RunFailed | RunInterrupted | RunStarted | RunStatusChanged | ServerReady | SpanEnded | SpanStarted | SpanUpdated | SubprocessOutput | TodoUpdate | ToolCall | ToolResult | TurnUsageRecorded | UsageUpdate | WorkerExited | WorkerRetired | WorkerSignaled | WorkerStarted | WorkspaceSnapshot | UnknownPayload;
  truncated?: boolean;
  span_id: string | null;
}

/** Why the run failed, when its search says so; else the event has no payload. */
export interface RunFailed {
  kind: "run_failed";
  failure: SearchFailure | null;
}

/** The run was ended from outside. */
export interface RunInterrupted {
  kind: "run_interrupted";
  reason: string;
  signal: number | null;
}

/** The header facts of a run. */
export interface RunOverview {
  overview_version: 1;
  objective: Objective;
  benchmarks: Benchmarks;
}

/** The fold of the events up to `sequence`. */
export interface RunSnapshot {
  protocol_version: number;
  run_id: string;
  sequence: number;
  status: "starting" | "running" | "pausing" | "paused" | "stopping" | "stopped" | "completed" | "failed" | (string & {});
  agent_kind: string | null;
  round_label: string | null;
  active_executions: ActiveExecution[];
  chat_threads: ChatThread[];
  spans: Span[];
  overview: RunOverview | null;
}

/** What the run is. */
export interface RunStarted {
  kind: "run_started";
  outer_loop: "command" | (string & {});
  input: string;
  max_rounds: number | null;
  expected_roles: string[];
  overview: RunOverview | null;
}

/** One move of the status machine. */
export interface RunStatusChanged {
  kind: "run_status_changed";
  status: "starting" | "running" | "pausing" | "paused" | "stopping" | "stopped" | "completed" | "failed" | (string & {});
  previous: "starting" | "running" | "pausing" | "paused" | "stopping" | "stopped" | "completed" | "failed" | (string & {});
}

/** Why a search ended without a winner. */
export interface SearchFailure {
  kind: "budget_exhausted" | "deadline" | "no_result" | (string & {});
  reason: string;
  workstreams_started: number;
  workstream_budget: number | null;
  candidates_kept: number;
}

export type ServerMessage = Subscribed | EventBatch | ActiveExecutionsChunk | SingleEvent | ProtocolError;

/** The server listens. */
export interface ServerReady {
  kind: "server_ready";
  socket_protocol: "jsonl" | (string & {});
}

/** Legacy: one event. Never sent here; readers accept it. */
export interface SingleEvent {
  type: "event";
  event: RunEvent;
}

/** One step of the run; the bounds keep an event with it below the size bound. */
export interface Span {
  id: string;
  parent_id: string | null;
  name: string;
  status: "running" | "waiting" | "done" | "failed" | "stopped" | (string & {});
  label: SpanLabel | null;
  waiting_on: SpanWait[];
  failure: SpanFailure | null;
  invocation: string | null;
  started_at: string;
  ended_at: string | null;
}

/** The span reached a final status. */
export interface SpanEnded {
  kind: "span_ended";
  span: Span;
}

/** Why a span failed (outcome) or stopped (interruption). */
export interface SpanFailure {
  kind: "outcome" | "interruption" | (string & {});
  message: string;
}

/** What a search declares of a span; an unknown kind is rendered from these fields alone. */
export interface SpanLabel {
  kind: "planning_call" | "workstream" | "agent_turn" | "gate" | "adoption" | (string & {});
  title: string;
  verdict: "accepted" | "rejected" | "passed" | "failed_check" | "slower" | "adopted" | "not_adopted" | (string & {}) | null;
  attrs_json: string;
  links: SpanLink[];
}

/** A relation to another span, such as builds_on. */
export interface SpanLink {
  kind: "builds_on" | (string & {});
  span_id: string;
}

/** The span is new in the trace. */
export interface SpanStarted {
  kind: "span_started";
  span: Span;
}

/** The span changed. */
export interface SpanUpdated {
  kind: "span_updated";
  span: Span;
}

/** One thing that a span waits for; a span that waits for the first of several has an entry each. */
export interface SpanWait {
  kind: "operation" | "slot" | "time" | "stop" | (string & {});
  span_id: string | null;
  until: number | null;
  detail: string | null;
}

/** One piece of what a worker wrote. */
export interface SubprocessOutput {
  kind: "subprocess_output";
  process_id: string;
  process_kind: "worker" | (string & {});
  stream: "stdout" | "stderr" | (string & {});
  content: string;
  offset: number;
  raw?: string;
}

/** Take the connection over: `subscribed`, then event batches until the peer leaves. `heartbeat_ms` is refused. */
export interface Subscribe {
  type: "subscribe";
  protocol_version?: 1;
  request_id?: string;
  client_id?: string;
  timestamp?: string;
  after_sequence?: number;
  tail?: number | null;
  store_id?: string;
}

/** The subscription is accepted; always first, also when the replay then fails (WP-SUBSCRIBE-ACK). */
export interface Subscribed {
  type: "subscribed";
  request_id: string;
  client_id: string;
  run_id: string;
  latest_sequence: number;
}

/** One entry of an agent's list. */
export interface Todo {
  content: string;
  status: "pending" | "in_progress" | "completed" | (string & {});
}

/** The agent's list, whole. */
export interface TodoUpdate {
  kind: "todo_update";
  todos: Todo[];
}

/** An agent calls a tool. */
export interface ToolCall {
  kind: "tool_call";
  tool: string;
  call_id: string | null;
  args: unknown;
  status: AgentStatus | null;
}

/** What a tool gave back. */
export interface ToolResult {
  kind: "tool_result";
  tool: string;
  call_id: string | null;
  content: string;
  is_error: boolean;
  payload: CommandResult | JsonResult | null;
}

/** What a terminal frontend starts with. */
export interface TuiDefaults {
  runs_dir: string;
  input_path: string;
  experiment_name: string;
  repository_owner: string | null;
  repository_name: string;
  visibility: "private" | "public" | "internal" | (string & {});
  theme: "dark" | "light" | "solarized-dark" | "solarized-light" | "catppuccin-mocha" | "catppuccin-latte" | "high-contrast-dark" | "high-contrast-light" | (string & {});
}

/** What a turn cost; `span_id` is stamped by the server. */
export interface TurnUsageRecorded {
  kind: "turn_usage_recorded";
  span_id: string | null;
  provider: string | null;
  model: string | null;
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  reasoning_tokens: number;
  cost_usd: number | null;
  duration_seconds: number | null;
}

/** A valid reply of the turn's role as data; clients learn its fields from the schema beside it. */
export interface TypedReply {
  kind: string;
  json_schema: Record<string, unknown>;
  value: unknown;
}

/** A kind that this version does not know. */
export interface UnknownPayload {
  kind: string & {};
}

/** How full the agent's context is. */
export interface UsageUpdate {
  kind: "usage_update";
  input_tokens: number;
  context_window: number | null;
  model: string | null;
}

/** Beyond the seed: the direct worker's exit code. */
export interface WorkerExited {
  kind: "worker_exited";
  generation: number;
  code: number;
}

/** Beyond the seed: a generation is over: launcher reaped, descendants looked for. */
export interface WorkerRetired {
  kind: "worker_retired";
  generation: number;
  runner: "direct" | "bwrap" | (string & {});
  how: "pid namespace ended" | "subreaper and marker" | (string & {});
  descendants: Descendants;
}

/** Beyond the seed: the signal that ended the direct worker. */
export interface WorkerSignaled {
  kind: "worker_signaled";
  generation: number;
  signal: number;
}

/** Beyond the seed: a generation's direct worker runs. */
export interface WorkerStarted {
  kind: "worker_started";
  generation: number;
  pid: number;
  argv: string[];
  cwd: string;
  runner: "direct" | "bwrap" | (string & {});
}

/** The workspace was committed. */
export interface WorkspaceSnapshot {
  kind: "workspace_snapshot";
  label: string;
  commit: string | null;
  baseline: string | null;
  excluded_paths: string[];
  source: "gates" | "git_tracking" | "loop" | "gpu" | "skypilot" | "other" | (string & {});
}
