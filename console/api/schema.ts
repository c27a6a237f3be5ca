// The management API as types. Made of its description by `npm run docs`: not to be edited.

export type ManageDeleteSessionsByIdAnswer = { readonly object: "console.session.ended"; readonly id: string };

export type ManageDeleteWebhooksByIdAnswer = { readonly object: "webhook.deleted"; readonly id: string; readonly deleted: true };

export type ManageGetAboutAnswer = { readonly object: "about"; readonly version: string; readonly time: string; readonly timezone: string };

export type ManageGetAlertsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "alert"; readonly id: string; readonly type: string; readonly message: string; readonly data: Readonly<Record<string, unknown>>; readonly raised_at: string; readonly state: "open" | "resolved"; readonly resolved_at: string | null })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetAuditAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "audit.entry"; readonly id: string; readonly created_at: string; readonly actor: { readonly id: string; readonly name: string; readonly address: string | null }; readonly action: string; readonly target: string; readonly request_id: string | null; readonly before: Readonly<Record<string, unknown>> | null; readonly after: Readonly<Record<string, unknown>> | null })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetBatchesAnswer = { readonly object: "list"; readonly data: readonly (ManageGetBatchesByIdAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetBatchesByIdAnswer = { readonly object: "batch"; readonly id: string; readonly protocol: string; readonly status: "validating" | "in_progress" | "cancelling" | "finalizing" | "completed" | "failed" | "expired" | "cancelled"; readonly outcome: "completed" | "failed" | "expired" | "cancelled" | null; readonly project: string; readonly key: string; readonly key_name: string | null; readonly lines: { readonly total: number | null; readonly done: number; readonly succeeded: number; readonly failed: number; readonly expired: number; readonly cancelled: number }; readonly tokens: { readonly input: number; readonly cached: number; readonly output: number; readonly reasoning: number }; readonly cost_usd: number; readonly unpriced_lines: number; readonly problems: readonly ({ readonly code: string; readonly message: string; readonly param: string | null; readonly line: number | null })[]; readonly input_file: string; readonly output_file: string | null; readonly error_file: string | null; readonly waits_for: string | null; readonly waits_since: string | null; readonly created_at: string; readonly began_at: string | null; readonly deadline_at: string; readonly cancel_requested_at: string | null; readonly ended_at: string | null; readonly expires_at: string | null };

export type ManageGetBatchesByIdFailuresAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "batch.failure"; readonly line: number; readonly custom_id: string | null; readonly generation: string | null; readonly status: number | null; readonly code: string; readonly message: string })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetBatchesCountsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly status: "validating" | "in_progress" | "cancelling" | "finalizing" | "completed" | "failed" | "expired" | "cancelled"; readonly batches: number })[] };

export type ManageGetConfigAnswer = { readonly object: "config"; readonly path: string | null; readonly revision: number; readonly config: Readonly<Record<string, unknown>> };

export type ManageGetDoctorFindingsAnswer = { readonly object: "list"; readonly data: readonly (ManagePostDoctorProbesAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetDoctorPlanAnswer = { readonly object: "doctor.plan"; readonly requests: number; readonly tokens: number; readonly cost_usd: number | null; readonly stored: boolean };

export type ManageGetGenerationsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly id: string; readonly created_at: string; readonly key_id: string; readonly project_id: string; readonly end_user: string | null; readonly model: string | null; readonly requested_model: string; readonly provider: string | null; readonly endpoint: string | null; readonly protocol: string; readonly lane: string | null; readonly status: number; readonly streamed: boolean; readonly cancelled: boolean; readonly latency: number | null; readonly generation_time: number | null; readonly finish_reason: string | null; readonly estimated: boolean; readonly native_tokens: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; readonly prompt_tokens_details: Readonly<Record<string, number>>; readonly completion_tokens_details: Readonly<Record<string, number>>; readonly tool_calls: Readonly<Record<string, number>> } | null; readonly cost: { readonly usd: number | null; readonly items: Readonly<Record<string, number>>; readonly price: unknown } | null; readonly error: { readonly kind: string; readonly message: string; readonly upstream_status: number | null } | null; readonly state: "ok" | "recovered" | "broken_stream" | "failed" | "limit_reached" | "rejected" | "cancelled"; readonly duration_ms: number; readonly first_content_ms: number | null; readonly tokens: { readonly input: number; readonly output: number } | null; readonly cost_usd: number | null; readonly unpriced: boolean; readonly attempted: readonly (string)[]; readonly outcome: "ok" | "failed" | "refused" | "cancelled"; readonly attempts: number; readonly key_name?: string | null | undefined })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetGenerationsByIdAnswer = { readonly id: string; readonly created_at: string; readonly key_id: string; readonly project_id: string; readonly end_user: string | null; readonly model: string | null; readonly requested_model: string; readonly provider: string | null; readonly endpoint: string | null; readonly protocol: string; readonly lane: string | null; readonly status: number; readonly streamed: boolean; readonly cancelled: boolean; readonly latency: number | null; readonly generation_time: number | null; readonly finish_reason: string | null; readonly estimated: boolean; readonly native_tokens: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; readonly prompt_tokens_details: Readonly<Record<string, number>>; readonly completion_tokens_details: Readonly<Record<string, number>>; readonly tool_calls: Readonly<Record<string, number>> } | null; readonly cost: { readonly usd: number | null; readonly items: Readonly<Record<string, number>>; readonly price: unknown } | null; readonly error: { readonly kind: string; readonly message: string; readonly upstream_status: number | null } | null; readonly state: "ok" | "recovered" | "broken_stream" | "failed" | "limit_reached" | "rejected" | "cancelled"; readonly duration_ms: number; readonly first_content_ms: number | null; readonly tokens: { readonly input: number; readonly output: number } | null; readonly cost_usd: number | null; readonly unpriced: boolean; readonly attempted: readonly (string)[]; readonly outcome: "ok" | "failed" | "refused" | "cancelled"; readonly attempts: readonly ({ readonly id: string; readonly provider: string; readonly endpoint: string; readonly model: string; readonly protocol: string; readonly lane: string; readonly outcome: string; readonly status: number | null; readonly started_at: string; readonly first_content_at: string | null; readonly ended_at: string; readonly queued_ms?: number | null | undefined; readonly connect_ms?: number | null | undefined; readonly headers_ms?: number | null | undefined; readonly started_ms: number; readonly first_content_ms: number | null; readonly generation_ms: number | null; readonly latency: number | null; readonly duration: number; readonly tokens: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; readonly prompt_tokens_details: Readonly<Record<string, number>>; readonly completion_tokens_details: Readonly<Record<string, number>>; readonly tool_calls: Readonly<Record<string, number>> } | null; readonly cost: { readonly usd: number | null; readonly items: Readonly<Record<string, number>>; readonly price: unknown } | null; readonly error: { readonly kind: string; readonly message: string; readonly upstream_status: number | null } | null; readonly baseline: { readonly streamed: { readonly answers: number; readonly first_content_ms: { readonly p50: number; readonly p95: number }; readonly duration_ms: { readonly p50: number; readonly p95: number } } | null; readonly whole: { readonly answers: number; readonly duration_ms: { readonly p50: number; readonly p95: number } } | null; readonly since: string } | null })[]; readonly route: { readonly requested_model?: string | undefined; readonly strategy?: { readonly type: string; readonly primary_factor: string | null } | undefined; readonly candidates?: readonly ({ readonly position: number; readonly endpoint: string; readonly provider: string; readonly model: string; readonly score: number | null; readonly reason: string; readonly price: { readonly input: number | null; readonly output: number | null } | null; readonly first_token_ms: number | null; readonly tokens_per_second: number | null; readonly success_rate: number | null; readonly state: string })[] | undefined; readonly excluded?: readonly ({ readonly model: string; readonly endpoint: string | null; readonly reason: string })[] | undefined } | null; readonly report: readonly ({ readonly path: string; readonly action: string; readonly reason: string })[]; readonly key_name: string | null; readonly gateway_ms: number; readonly tokens_per_second: number | null; readonly explanation: { readonly kind: "normal" | "slow" | "recovered" | "failed" | "broken_stream" | "limit_reached" | "rejected" | "cancelled"; readonly text: string; readonly answered_by: string | null; readonly duration_ms: number; readonly normal: { readonly value_ms: number; readonly p50_ms: number; readonly p95_ms: number } | null; readonly slowest_phase: { readonly phase: "gateway" | "queue" | "connect" | "first_content" | "generation" | "earlier_attempts" | "between_attempts"; readonly ms: number; readonly provider: string | null } | null; readonly earlier: readonly ({ readonly provider: string; readonly status: number | null; readonly kind: string | null; readonly message: string | null; readonly ms: number })[]; readonly failure: { readonly by: "provider" | "gateway"; readonly provider: string | null; readonly status: number | null; readonly kind: string; readonly message: string } | null; readonly limit: { readonly text: string; readonly owner: { readonly kind: "gateway" | "project" | "key" | "provider"; readonly id: string; readonly name: string }; readonly unit: "requests" | "tokens" | "concurrent" | "usd"; readonly used: number; readonly allowed: number; readonly resets_at: string | null } | null; readonly cancelled: { readonly after_ms: number; readonly output_tokens: number | null; readonly had_content: boolean } | null } };

export type ManageGetGenerationsByIdDiffAnswer = { readonly object: "generation.diff"; readonly id: string; readonly attempt: number; readonly client_protocol: string; readonly upstream_protocol: string; readonly lane: "relay" | "translate"; readonly request: { readonly rows: readonly ({ readonly what: string; readonly state: "same" | "changed" | "dropped" | "added" | "gateway" | "form"; readonly client: { readonly path: string | null; readonly value: unknown } | null; readonly upstream: { readonly path: string | null; readonly value: unknown } | null; readonly report: readonly ({ readonly path: string; readonly action: string; readonly reason: string })[] })[]; readonly by_value: boolean } | null; readonly answer: { readonly rows: readonly ({ readonly what: string; readonly state: "same" | "changed" | "dropped" | "added" | "gateway" | "form"; readonly client: { readonly path: string | null; readonly value: unknown } | null; readonly upstream: { readonly path: string | null; readonly value: unknown } | null; readonly report: readonly ({ readonly path: string; readonly action: string; readonly reason: string })[] })[]; readonly by_value: boolean } | null };

export type ManageGetGenerationsByIdPayloadsAnswer = { readonly object: "generation.payloads"; readonly id: string; readonly data: readonly ({ readonly stage: "client_request" | "upstream_request" | "upstream_response" | "client_response"; readonly attempt: number | null; readonly method: string | null; readonly address: string | null; readonly status: number | null; readonly headers: readonly (readonly (string)[])[]; readonly bytes: number; readonly cut: boolean; readonly masked: boolean; readonly reads: readonly (readonly (number)[])[]; readonly text: string | null })[] };

export type ManageGetGenerationsCountsAnswer = { readonly object: "generation.counts"; readonly from: string; readonly to: string; readonly total: number; readonly states: { readonly ok: number; readonly recovered: number; readonly broken_stream: number; readonly failed: number; readonly limit_reached: number; readonly rejected: number; readonly cancelled: number }; readonly failed: number; readonly refused: number; readonly cancelled: number; readonly exact: boolean; readonly interval_ms: number | null; readonly histogram: readonly ({ readonly start: string; readonly count: number; readonly failed: number; readonly refused: number; readonly cancelled: number })[]; readonly facets: Readonly<Record<string, readonly ({ readonly value: string; readonly name?: string | null | undefined; readonly count: number })[]>> };

export type ManageGetJobsAnswer = { readonly object: "list"; readonly data: readonly (ManageGetJobsByIdAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetJobsByIdAnswer = { readonly object: "job"; readonly id: string; readonly kind: string; readonly state: "queued" | "waiting" | "running" | "completed" | "failed" | "cancelled"; readonly project: string; readonly key: string; readonly key_name: string | null; readonly model: string | null; readonly event_type: string | null; readonly generation: string | null; readonly priority: number; readonly attempt: number; readonly cancel_requested: boolean; readonly waits_for: string | null; readonly waits_since: string | null; readonly error: { readonly code: string; readonly message: string } | null; readonly created_at: string; readonly started_at: string | null; readonly ended_at: string | null; readonly expires_at: string | null };

export type ManageGetJobsCountsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly kind: string; readonly state: "queued" | "waiting" | "running" | "completed" | "failed" | "cancelled"; readonly jobs: number; readonly oldest_at: string })[] };

export type ManageGetKeyNamesAnswer = { readonly object: "list"; readonly data: readonly ({ readonly id: string; readonly name: string })[] };

export type ManageGetKeysAnswer = { readonly object: "list"; readonly data: readonly (ManagePatchKeysByIdAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetKeysByIdAnswer = { readonly object: "key"; readonly id: string; readonly name: string; readonly project: string | null; readonly roles: readonly ("models" | "admin")[]; readonly hint: string; readonly source: "file" | "database"; readonly created_at: string | null; readonly updated_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null; readonly previous_valid_until: string | null; readonly models: readonly (string)[] | null; readonly log_content: boolean | null; readonly strict: boolean | null; readonly on_disconnect: string | null; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined })[]; readonly budgets: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[]; readonly version: number | null; readonly state: "active" | "expires_soon" | "budget_used_up" | "budget_too_low" | "project_archived" | "expired" | "revoked"; readonly last_used_at: string | null; readonly spent_usd: number | null; readonly spent_unpriced_requests: number; readonly requests: number; readonly tightest: { readonly of: "key" | "project"; readonly text: string; readonly unit: string; readonly used: number; readonly allowed: number; readonly share: number; readonly resets_at: string | null } | null; readonly standings: readonly ({ readonly of: "key" | "project"; readonly text: string; readonly unit: string; readonly used: number; readonly allowed: number; readonly resets_at: string | null; readonly lasts_until: string | null })[] };

export type ManageGetLimitsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "limits"; readonly id: string; readonly owner: { readonly kind: "gateway" | "project" | "key" | "provider"; readonly id: string; readonly name: string }; readonly limits: readonly ({ readonly limit: { readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined } | { readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined }; readonly text: string; readonly unit: "requests" | "tokens" | "concurrent" | "usd"; readonly used: number; readonly reserved: number; readonly remaining: number; readonly clears_at: string | null })[] })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetModelsAnswer = { readonly object: "list"; readonly data: readonly (ManageGetModelsByIdAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetModelsByIdAnswer = { readonly id: string; readonly object: "model"; readonly endpoints: readonly ({ readonly object: "endpoint"; readonly slug: string; readonly provider: string; readonly model_id: string; readonly model: string; readonly protocol: string; readonly base_url: string; readonly listed: boolean; readonly health: { readonly state: "closed" | "open" | "half-open"; readonly until: string | null; readonly reason: string | null; readonly running: number; readonly first_token_ms: number | null; readonly answer_ms: number | null; readonly p95_first_token_ms: number | null; readonly p95_answer_ms: number | null; readonly tokens_per_second: number | null; readonly cache_hit_rate: number | null; readonly success_rate: number | null; readonly failures: Readonly<Record<string, number>>; readonly measured_at: string | null }; readonly price: { readonly input?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_read?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_write_5m?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_write_1h?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly input_audio?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output_audio?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly input_image?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output_reasoning?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly request?: number | undefined; readonly tools?: Readonly<Record<string, number>> | undefined; readonly source: string; readonly kept: boolean } | null; readonly facts: { readonly context_length: number | null; readonly learned_context_length: number | null; readonly max_output_tokens: number | null; readonly reasoning: { readonly style: string | null; readonly mandatory: boolean; readonly efforts: readonly (string)[] | null; readonly min_budget: number; readonly max_budget: number | null; readonly format: string | null }; readonly unsupported_parameters: readonly (string)[]; readonly hosted_tools: readonly (string)[]; readonly faithful: boolean; readonly compacts: boolean; readonly quality: number | null } })[] };

export type ManageGetProblemsAnswer = { readonly object: "problems"; readonly sentence: { readonly text: string; readonly failing: number; readonly recovering: number; readonly degraded: number; readonly rerouted: number; readonly failed: number; readonly asked: number; readonly budgets: number; readonly low_budgets: number; readonly expiring: number; readonly since: string | null }; readonly data: readonly ({ readonly kind: "provider" | "budget" | "key_expiry" | "ledger"; readonly text: string; readonly since: string | null; readonly provider?: string | undefined; readonly provider_name?: string | undefined; readonly state?: "failing" | "recovering" | "degraded" | "disabled" | "healthy" | "no_traffic" | undefined; readonly status?: number | null | undefined; readonly message?: string | null | undefined; readonly rerouted?: number | undefined; readonly failed?: number | undefined; readonly budget_state?: "budget_used_up" | "budget_too_low" | undefined; readonly limit?: { readonly text: string; readonly owner: { readonly kind: "gateway" | "project" | "key" | "provider"; readonly id: string; readonly name: string }; readonly unit: string; readonly used: number; readonly allowed: number; readonly resets_at: string | null } | undefined; readonly key?: { readonly id: string; readonly name: string; readonly expires_at: string } | undefined })[] };

export type ManageGetProjectsAnswer = { readonly object: "list"; readonly data: readonly (ManagePostProjectsAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetProvidersAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "provider"; readonly id: string; readonly name: string; readonly protocols: readonly (string)[]; readonly models: number; readonly running: number; readonly open: number; readonly state: "failing" | "recovering" | "degraded" | "disabled" | "healthy" | "no_traffic"; readonly state_since: string | null; readonly state_until: string | null; readonly as_of: string | null; readonly last_attempt_at: string | null; readonly disabled_by: { readonly name: string; readonly reason: string | null } | null; readonly problem: { readonly kind: string; readonly status: number | null; readonly text: string; readonly message: string; readonly since: string | null } | null; readonly worst: { readonly model_id: string; readonly slug: string; readonly state: "failing" | "recovering" | "degraded" | "disabled" | "healthy" | "no_traffic" } | null; readonly endpoints_by_state: Readonly<Record<string, number>>; readonly day: { readonly requests: number; readonly attempts: number; readonly failed_attempts: number; readonly good_share: number | null; readonly usd: number | null; readonly unpriced_requests: number; readonly first_content_ms_p95: number | null }; readonly trend: readonly ({ readonly start: string; readonly attempts: number; readonly failed_attempts: number })[]; readonly effect: { readonly rerouted: number; readonly failed: number } })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetProvidersByIdAnswer = { readonly object: "provider"; readonly id: string; readonly name: string; readonly protocols: readonly (string)[]; readonly models: number; readonly running: number; readonly open: number; readonly state: "failing" | "recovering" | "degraded" | "disabled" | "healthy" | "no_traffic"; readonly state_since: string | null; readonly state_until: string | null; readonly as_of: string | null; readonly last_attempt_at: string | null; readonly disabled_by: { readonly name: string; readonly reason: string | null } | null; readonly problem: { readonly kind: string; readonly status: number | null; readonly text: string; readonly message: string; readonly since: string | null } | null; readonly worst: { readonly model_id: string; readonly slug: string; readonly state: "failing" | "recovering" | "degraded" | "disabled" | "healthy" | "no_traffic" } | null; readonly endpoints_by_state: Readonly<Record<string, number>>; readonly day: { readonly requests: number; readonly attempts: number; readonly failed_attempts: number; readonly good_share: number | null; readonly usd: number | null; readonly unpriced_requests: number; readonly first_content_ms_p95: number | null }; readonly trend: readonly ({ readonly start: string; readonly attempts: number; readonly failed_attempts: number })[]; readonly effect: { readonly rerouted: number; readonly failed: number }; readonly endpoints: readonly ({ readonly object: "endpoint"; readonly slug: string; readonly provider: string; readonly model_id: string; readonly model: string; readonly protocol: string; readonly base_url: string; readonly listed: boolean; readonly health: { readonly state: "closed" | "open" | "half-open"; readonly until: string | null; readonly reason: string | null; readonly running: number; readonly first_token_ms: number | null; readonly answer_ms: number | null; readonly p95_first_token_ms: number | null; readonly p95_answer_ms: number | null; readonly tokens_per_second: number | null; readonly cache_hit_rate: number | null; readonly success_rate: number | null; readonly failures: Readonly<Record<string, number>>; readonly measured_at: string | null }; readonly price: { readonly input?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_read?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_write_5m?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_write_1h?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly input_audio?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output_audio?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly input_image?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output_reasoning?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly request?: number | undefined; readonly tools?: Readonly<Record<string, number>> | undefined; readonly source: string; readonly kept: boolean } | null; readonly facts: { readonly context_length: number | null; readonly learned_context_length: number | null; readonly max_output_tokens: number | null; readonly reasoning: { readonly style: string | null; readonly mandatory: boolean; readonly efforts: readonly (string)[] | null; readonly min_budget: number; readonly max_budget: number | null; readonly format: string | null }; readonly unsupported_parameters: readonly (string)[]; readonly hosted_tools: readonly (string)[]; readonly faithful: boolean; readonly compacts: boolean; readonly quality: number | null }; readonly state: "failing" | "recovering" | "degraded" | "disabled" | "healthy" | "no_traffic"; readonly state_since: string | null; readonly state_until: string | null; readonly as_of: string | null; readonly last_attempt_at: string | null; readonly window: { readonly attempts: number; readonly good: number; readonly bad: number; readonly rate_limited: number } })[]; readonly recent_errors: readonly ({ readonly kind: string; readonly status: number | null; readonly text: string; readonly message: string; readonly count: number; readonly last_at: string; readonly example_id: string; readonly endpoint: string })[]; readonly base_urls: readonly (string)[]; readonly key_hint: string | null };

export type ManageGetSessionsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "console.session"; readonly id: string; readonly actor: { readonly id: string; readonly name: string }; readonly address: string | null; readonly user_agent: string | null; readonly created_at: string; readonly last_used_at: string; readonly expires_at: string })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetUsageAnswer = { readonly object: "usage"; readonly from: string; readonly to: string; readonly timezone: string; readonly complete: boolean; readonly before?: { readonly from: string; readonly to: string; readonly all: { readonly start: string | null; readonly project?: string | null | undefined; readonly key?: string | null | undefined; readonly model?: string | null | undefined; readonly provider?: string | null | undefined; readonly endpoint?: string | null | undefined; readonly protocol?: string | null | undefined; readonly requested_model?: string | null | undefined; readonly outcome?: string | null | undefined; readonly requests?: number | null | undefined; readonly errors?: number | null | undefined; readonly failed?: number | null | undefined; readonly refused?: number | null | undefined; readonly cancelled?: number | null | undefined; readonly attempts?: number | null | undefined; readonly failed_attempts?: number | null | undefined; readonly charged_errors?: number | null | undefined; readonly tool_turns?: number | null | undefined; readonly input_uncached?: number | null | undefined; readonly input_cache_read?: number | null | undefined; readonly input_cache_write_5m?: number | null | undefined; readonly input_cache_write_1h?: number | null | undefined; readonly input_audio?: number | null | undefined; readonly input_image?: number | null | undefined; readonly output_text?: number | null | undefined; readonly output_reasoning?: number | null | undefined; readonly output_audio?: number | null | undefined; readonly accepted_prediction?: number | null | undefined; readonly rejected_prediction?: number | null | undefined; readonly estimated?: number | null | undefined; readonly nano_usd?: number | null | undefined; readonly unpriced_requests?: number | null | undefined; readonly cache_saved_nano_usd?: number | null | undefined; readonly duration_ms?: number | null | undefined; readonly first_content_ms?: number | null | undefined; readonly first_contents?: number | null | undefined; readonly usd?: number | null | undefined; readonly cache_saved_usd?: number | undefined; readonly duration_ms_p50?: number | null | undefined; readonly duration_ms_p95?: number | null | undefined; readonly duration_ms_p99?: number | null | undefined; readonly first_content_ms_p50?: number | null | undefined; readonly first_content_ms_p95?: number | null | undefined; readonly first_content_ms_p99?: number | null | undefined; readonly errors_by_kind?: Readonly<Record<string, number>> | undefined; readonly tools?: Readonly<Record<string, number>> | undefined } | null } | undefined; readonly data: readonly ({ readonly start: string | null; readonly project?: string | null | undefined; readonly key?: string | null | undefined; readonly model?: string | null | undefined; readonly provider?: string | null | undefined; readonly endpoint?: string | null | undefined; readonly protocol?: string | null | undefined; readonly requested_model?: string | null | undefined; readonly outcome?: string | null | undefined; readonly requests?: number | null | undefined; readonly errors?: number | null | undefined; readonly failed?: number | null | undefined; readonly refused?: number | null | undefined; readonly cancelled?: number | null | undefined; readonly attempts?: number | null | undefined; readonly failed_attempts?: number | null | undefined; readonly charged_errors?: number | null | undefined; readonly tool_turns?: number | null | undefined; readonly input_uncached?: number | null | undefined; readonly input_cache_read?: number | null | undefined; readonly input_cache_write_5m?: number | null | undefined; readonly input_cache_write_1h?: number | null | undefined; readonly input_audio?: number | null | undefined; readonly input_image?: number | null | undefined; readonly output_text?: number | null | undefined; readonly output_reasoning?: number | null | undefined; readonly output_audio?: number | null | undefined; readonly accepted_prediction?: number | null | undefined; readonly rejected_prediction?: number | null | undefined; readonly estimated?: number | null | undefined; readonly nano_usd?: number | null | undefined; readonly unpriced_requests?: number | null | undefined; readonly cache_saved_nano_usd?: number | null | undefined; readonly duration_ms?: number | null | undefined; readonly first_content_ms?: number | null | undefined; readonly first_contents?: number | null | undefined; readonly usd?: number | null | undefined; readonly cache_saved_usd?: number | undefined; readonly duration_ms_p50?: number | null | undefined; readonly duration_ms_p95?: number | null | undefined; readonly duration_ms_p99?: number | null | undefined; readonly first_content_ms_p50?: number | null | undefined; readonly first_content_ms_p95?: number | null | undefined; readonly first_content_ms_p99?: number | null | undefined; readonly errors_by_kind?: Readonly<Record<string, number>> | undefined; readonly tools?: Readonly<Record<string, number>> | undefined })[]; readonly totals?: { readonly all: { readonly start: string | null; readonly project?: string | null | undefined; readonly key?: string | null | undefined; readonly model?: string | null | undefined; readonly provider?: string | null | undefined; readonly endpoint?: string | null | undefined; readonly protocol?: string | null | undefined; readonly requested_model?: string | null | undefined; readonly outcome?: string | null | undefined; readonly requests?: number | null | undefined; readonly errors?: number | null | undefined; readonly failed?: number | null | undefined; readonly refused?: number | null | undefined; readonly cancelled?: number | null | undefined; readonly attempts?: number | null | undefined; readonly failed_attempts?: number | null | undefined; readonly charged_errors?: number | null | undefined; readonly tool_turns?: number | null | undefined; readonly input_uncached?: number | null | undefined; readonly input_cache_read?: number | null | undefined; readonly input_cache_write_5m?: number | null | undefined; readonly input_cache_write_1h?: number | null | undefined; readonly input_audio?: number | null | undefined; readonly input_image?: number | null | undefined; readonly output_text?: number | null | undefined; readonly output_reasoning?: number | null | undefined; readonly output_audio?: number | null | undefined; readonly accepted_prediction?: number | null | undefined; readonly rejected_prediction?: number | null | undefined; readonly estimated?: number | null | undefined; readonly nano_usd?: number | null | undefined; readonly unpriced_requests?: number | null | undefined; readonly cache_saved_nano_usd?: number | null | undefined; readonly duration_ms?: number | null | undefined; readonly first_content_ms?: number | null | undefined; readonly first_contents?: number | null | undefined; readonly usd?: number | null | undefined; readonly cache_saved_usd?: number | undefined; readonly duration_ms_p50?: number | null | undefined; readonly duration_ms_p95?: number | null | undefined; readonly duration_ms_p99?: number | null | undefined; readonly first_content_ms_p50?: number | null | undefined; readonly first_content_ms_p95?: number | null | undefined; readonly first_content_ms_p99?: number | null | undefined; readonly errors_by_kind?: Readonly<Record<string, number>> | undefined; readonly tools?: Readonly<Record<string, number>> | undefined } | null; readonly groups: readonly ({ readonly start: string | null; readonly project?: string | null | undefined; readonly key?: string | null | undefined; readonly model?: string | null | undefined; readonly provider?: string | null | undefined; readonly endpoint?: string | null | undefined; readonly protocol?: string | null | undefined; readonly requested_model?: string | null | undefined; readonly outcome?: string | null | undefined; readonly requests?: number | null | undefined; readonly errors?: number | null | undefined; readonly failed?: number | null | undefined; readonly refused?: number | null | undefined; readonly cancelled?: number | null | undefined; readonly attempts?: number | null | undefined; readonly failed_attempts?: number | null | undefined; readonly charged_errors?: number | null | undefined; readonly tool_turns?: number | null | undefined; readonly input_uncached?: number | null | undefined; readonly input_cache_read?: number | null | undefined; readonly input_cache_write_5m?: number | null | undefined; readonly input_cache_write_1h?: number | null | undefined; readonly input_audio?: number | null | undefined; readonly input_image?: number | null | undefined; readonly output_text?: number | null | undefined; readonly output_reasoning?: number | null | undefined; readonly output_audio?: number | null | undefined; readonly accepted_prediction?: number | null | undefined; readonly rejected_prediction?: number | null | undefined; readonly estimated?: number | null | undefined; readonly nano_usd?: number | null | undefined; readonly unpriced_requests?: number | null | undefined; readonly cache_saved_nano_usd?: number | null | undefined; readonly duration_ms?: number | null | undefined; readonly first_content_ms?: number | null | undefined; readonly first_contents?: number | null | undefined; readonly usd?: number | null | undefined; readonly cache_saved_usd?: number | undefined; readonly duration_ms_p50?: number | null | undefined; readonly duration_ms_p95?: number | null | undefined; readonly duration_ms_p99?: number | null | undefined; readonly first_content_ms_p50?: number | null | undefined; readonly first_content_ms_p95?: number | null | undefined; readonly first_content_ms_p99?: number | null | undefined; readonly errors_by_kind?: Readonly<Record<string, number>> | undefined; readonly tools?: Readonly<Record<string, number>> | undefined })[] } | undefined };

export type ManageGetUsageEndUsersAnswer = { readonly object: "usage.end_users"; readonly complete: boolean; readonly data: readonly ({ readonly project: string; readonly end_user: string | null; readonly requests: number; readonly errors: number; readonly input: number; readonly output: number; readonly nano_usd: number; readonly usd: number | null; readonly unpriced_requests: number })[] };

export type ManageGetWebhooksAnswer = { readonly object: "list"; readonly data: readonly (ManageGetWebhooksByIdAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetWebhooksByIdAnswer = { readonly object: "webhook"; readonly id: string; readonly source: "file" | "database"; readonly project: string | null; readonly url: string; readonly description: string | null; readonly events: readonly (string)[] | null; readonly state: "enabled" | "failing" | "disabled"; readonly failing_since: string | null; readonly disabled_at: string | null; readonly disabled_reason: string | null; readonly created_at: string | null };

export type ManageGetWebhooksByIdDeliveriesAnswer = { readonly object: "list"; readonly data: readonly (ManagePostWebhooksByIdTestAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetWebhooksByIdDeliveriesByDeliveryAnswer = { readonly object: "webhook_delivery"; readonly id: string; readonly type: string | null; readonly state: "queued" | "waiting" | "running" | "completed" | "failed" | "cancelled"; readonly attempts: number; readonly last_failure: string | null; readonly created_at: string; readonly ended_at: string | null; readonly message: string; readonly body: string; readonly log: readonly ({ readonly at: string; readonly duration_ms: number; readonly failure: string | null; readonly request: { readonly headers: Readonly<Record<string, string>> }; readonly answer: { readonly status: number; readonly content_type: string | null; readonly body: string } | null })[] };

export type ManagePatchKeysByIdAnswer = { readonly object: "key"; readonly id: string; readonly name: string; readonly project: string | null; readonly roles: readonly ("models" | "admin")[]; readonly hint: string; readonly source: "file" | "database"; readonly created_at: string | null; readonly updated_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null; readonly previous_valid_until: string | null; readonly models: readonly (string)[] | null; readonly log_content: boolean | null; readonly strict: boolean | null; readonly on_disconnect: string | null; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined })[]; readonly budgets: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[]; readonly version: number | null; readonly state: "active" | "expires_soon" | "budget_used_up" | "budget_too_low" | "project_archived" | "expired" | "revoked"; readonly last_used_at: string | null; readonly spent_usd: number | null; readonly spent_unpriced_requests: number; readonly requests: number; readonly tightest: { readonly of: "key" | "project"; readonly text: string; readonly unit: string; readonly used: number; readonly allowed: number; readonly share: number; readonly resets_at: string | null } | null };

export type ManagePatchKeysByIdRequest = { readonly name?: string | undefined; readonly roles?: readonly ("models" | "admin")[] | undefined; readonly models?: readonly (string)[] | null | undefined; readonly expires_at?: string | null | undefined; readonly log_content?: boolean | null | undefined; readonly strict?: boolean | null | undefined; readonly on_disconnect?: string | null | undefined; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits?: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined })[] | undefined; readonly budgets?: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[] | undefined };

export type ManagePatchProjectsByIdRequest = { readonly limits?: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined })[] | undefined; readonly budgets?: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[] | undefined };

export type ManagePatchWebhooksByIdRequest = { readonly url?: string | undefined; readonly events?: readonly ("response.completed" | "response.failed" | "response.incomplete" | "response.cancelled" | "batch.completed" | "batch.failed" | "batch.expired" | "batch.cancelled" | "budget.threshold_reached" | "endpoint.opened" | "provider.key_refused" | "ledger.failing" | "webhook.disabled")[] | null | undefined; readonly description?: string | null | undefined; readonly state?: "enabled" | undefined };

export type ManagePostConfigCheckAnswer = { readonly object: "config.check"; readonly valid: boolean; readonly problems: readonly (string)[]; readonly unchecked: readonly (string)[] };

export type ManagePostConfigCheckRequest = { readonly config: string };

export type ManagePostDoctorProbesAnswer = { readonly object: "doctor.diagnosis"; readonly id: string; readonly provider: string; readonly protocol: string; readonly model: string; readonly base_url: string; readonly model_id: string | null; readonly slug: string | null; readonly probed_at: string; readonly probes: number; readonly facts: { readonly quirks: Readonly<Record<string, string | boolean>>; readonly supported: readonly (string)[]; readonly unsupported: readonly (string)[]; readonly reasoning?: string | undefined; readonly reasoning_mandatory?: boolean | undefined; readonly context_length?: number | undefined }; readonly findings: readonly ({ readonly probe: string; readonly title: string; readonly outcome: "yes" | "no" | "unknown"; readonly value?: string | undefined; readonly detail: string })[] };

export type ManagePostDoctorProbesRequest = { readonly provider: string; readonly model: string };

export type ManagePostGenerationsByIdReplayAnswer = { readonly object: "generation.replay"; readonly id: string; readonly replay_of: string; readonly before: { readonly id: string; readonly status: number; readonly model: string | null; readonly provider: string | null; readonly endpoint: string | null; readonly attempts: number; readonly finish_reason: string | null; readonly input_tokens: number | null; readonly output_tokens: number | null; readonly reasoning_tokens: number | null; readonly usd: number | null; readonly first_content_ms: number | null; readonly duration_ms: number; readonly answer: string | null }; readonly after: { readonly id: string; readonly status: number; readonly model: string | null; readonly provider: string | null; readonly endpoint: string | null; readonly attempts: number; readonly finish_reason: string | null; readonly input_tokens: number | null; readonly output_tokens: number | null; readonly reasoning_tokens: number | null; readonly usd: number | null; readonly first_content_ms: number | null; readonly duration_ms: number; readonly answer: string | null }; readonly same_answer: boolean | null };

export type ManagePostGenerationsByIdReplayRequest = { readonly model?: string | undefined; readonly provider?: string | undefined; readonly tools?: boolean | undefined };

export type ManagePostKeysAnswer = { readonly object: "key"; readonly id: string; readonly name: string; readonly project: string | null; readonly roles: readonly ("models" | "admin")[]; readonly hint: string; readonly source: "file" | "database"; readonly created_at: string | null; readonly updated_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null; readonly previous_valid_until: string | null; readonly models: readonly (string)[] | null; readonly log_content: boolean | null; readonly strict: boolean | null; readonly on_disconnect: string | null; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined })[]; readonly budgets: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[]; readonly version: number | null; readonly state: "active" | "expires_soon" | "budget_used_up" | "budget_too_low" | "project_archived" | "expired" | "revoked"; readonly last_used_at: string | null; readonly spent_usd: number | null; readonly spent_unpriced_requests: number; readonly requests: number; readonly tightest: { readonly of: "key" | "project"; readonly text: string; readonly unit: string; readonly used: number; readonly allowed: number; readonly share: number; readonly resets_at: string | null } | null; readonly key: string };

export type ManagePostKeysByIdRotateRequest = { readonly grace_ms?: number | undefined };

export type ManagePostKeysRequest = { readonly name: string; readonly project?: string | null | undefined; readonly roles?: readonly ("models" | "admin")[] | undefined; readonly models?: readonly (string)[] | null | undefined; readonly expires_at?: string | null | undefined; readonly log_content?: boolean | null | undefined; readonly strict?: boolean | null | undefined; readonly on_disconnect?: string | null | undefined; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits?: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined })[] | undefined; readonly budgets?: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[] | undefined };

export type ManagePostProjectsAnswer = { readonly object: "project"; readonly id: string; readonly state: "active" | "archived"; readonly source: "file" | "database"; readonly created_at: string | null; readonly updated_at: string | null; readonly archived_at: string | null; readonly limits: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined })[]; readonly budgets: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[]; readonly version: number | null };

export type ManagePostProjectsRequest = { readonly name: string; readonly limits?: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly too_large?: "refuse" | "allow" | undefined })[] | undefined; readonly budgets?: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[] | undefined };

export type ManagePostProvidersByIdBreakerAnswer = { readonly object: "provider.breaker"; readonly provider: string; readonly state: "open" | "closed"; readonly until: string | null; readonly endpoints: readonly ({ readonly model_id: string; readonly slug: string })[] };

export type ManagePostProvidersByIdBreakerRequest = { readonly state: "open" | "closed"; readonly model?: string | undefined; readonly for_ms?: number | undefined; readonly reason?: string | undefined };

export type ManagePostRouteExplainAnswer = Readonly<Record<string, unknown>>;

export type ManagePostRouteExplainRequest = { readonly key: string; readonly request: Readonly<Record<string, unknown>> };

export type ManagePostWebhooksAnswer = { readonly object: "webhook"; readonly id: string; readonly source: "file" | "database"; readonly project: string | null; readonly url: string; readonly description: string | null; readonly events: readonly (string)[] | null; readonly state: "enabled" | "failing" | "disabled"; readonly failing_since: string | null; readonly disabled_at: string | null; readonly disabled_reason: string | null; readonly created_at: string | null; readonly secret: string };

export type ManagePostWebhooksByIdRotateRequest = { readonly keep_hours?: number | undefined };

export type ManagePostWebhooksByIdTestAnswer = { readonly object: "webhook_delivery"; readonly id: string; readonly type: string | null; readonly state: "queued" | "waiting" | "running" | "completed" | "failed" | "cancelled"; readonly attempts: number; readonly last_failure: string | null; readonly created_at: string; readonly ended_at: string | null };

export type ManagePostWebhooksByIdTestRequest = { readonly type?: "webhook.test" | "response.completed" | "response.failed" | "response.incomplete" | "response.cancelled" | "batch.completed" | "batch.failed" | "batch.expired" | "batch.cancelled" | "budget.threshold_reached" | "endpoint.opened" | "provider.key_refused" | "ledger.failing" | "webhook.disabled" | undefined };

export type ManagePostWebhooksRequest = { readonly url: string; readonly project?: string | null | undefined; readonly events?: readonly ("response.completed" | "response.failed" | "response.incomplete" | "response.cancelled" | "batch.completed" | "batch.failed" | "batch.expired" | "batch.cancelled" | "budget.threshold_reached" | "endpoint.opened" | "provider.key_refused" | "ledger.failing" | "webhook.disabled")[] | null | undefined; readonly description?: string | null | undefined };

export type ManagePostWhatIfAnswer = { readonly object: "what_if"; readonly from: string; readonly to: string; readonly sampled: number; readonly whole: boolean; readonly moved: number; readonly unserved: Readonly<Record<string, number>>; readonly before: { readonly requests: number; readonly share: number; readonly usd: number; readonly unpriced: number; readonly first_content_ms: number | null; readonly duration_ms: number | null }; readonly after: { readonly requests: number; readonly share: number; readonly usd: number; readonly unpriced: number; readonly first_content_ms: number | null; readonly duration_ms: number | null }; readonly groups: readonly ({ readonly model: string; readonly provider: string; readonly endpoint: string; readonly before: { readonly requests: number; readonly share: number; readonly usd: number; readonly unpriced: number; readonly first_content_ms: number | null; readonly duration_ms: number | null }; readonly after: { readonly requests: number; readonly share: number; readonly usd: number; readonly unpriced: number; readonly first_content_ms: number | null; readonly duration_ms: number | null } })[]; readonly assumptions: readonly (string)[] };

export type ManagePostWhatIfRequest = { readonly from?: string | undefined; readonly to?: string | undefined; readonly filters?: { readonly project?: readonly (string)[] | undefined; readonly key?: readonly (string)[] | undefined; readonly model?: readonly (string)[] | undefined; readonly provider?: readonly (string)[] | undefined; readonly endpoint?: readonly (string)[] | undefined; readonly protocol?: readonly (string)[] | undefined } | undefined; readonly sample?: number | undefined; readonly policy?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | undefined; readonly prices?: readonly ({ readonly model?: string | undefined; readonly provider?: string | undefined; readonly price?: { readonly input?: number | undefined; readonly output?: number | undefined; readonly cache_read?: number | undefined; readonly cache_write_5m?: number | undefined; readonly cache_write_1h?: number | undefined; readonly input_audio?: number | undefined; readonly output_audio?: number | undefined; readonly request?: number | undefined; readonly tools?: Readonly<Record<string, number>> | undefined } | undefined; readonly factor?: number | undefined })[] | undefined; readonly without?: readonly (string)[] | undefined; readonly models?: Readonly<Record<string, string>> | undefined };

/** Operations by method and path below `/v1/management`. */
export interface Operations {
  'GET /projects': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; state?: "active" | "archived" | undefined; search?: string | undefined };
    body: undefined;
    answer: ManageGetProjectsAnswer;
  };
  'POST /projects': {
    query: {  };
    body: ManagePostProjectsRequest;
    answer: ManagePostProjectsAnswer;
  };
  'GET /projects/{id}': {
    query: {  };
    body: undefined;
    answer: ManagePostProjectsAnswer;
  };
  'PATCH /projects/{id}': {
    query: {  };
    body: ManagePatchProjectsByIdRequest;
    answer: ManagePostProjectsAnswer;
  };
  'POST /projects/{id}/archive': {
    query: {  };
    body: undefined;
    answer: ManagePostProjectsAnswer;
  };
  'POST /projects/{id}/restore': {
    query: {  };
    body: undefined;
    answer: ManagePostProjectsAnswer;
  };
  'GET /keys': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; project?: string | undefined; state?: string | undefined; order_by?: "created" | "name" | "last_used" | "spent" | "state" | undefined; order?: "asc" | "desc" | undefined; name?: string | undefined; search?: string | undefined; id?: string | undefined };
    body: undefined;
    answer: ManageGetKeysAnswer;
  };
  'POST /keys': {
    query: {  };
    body: ManagePostKeysRequest;
    answer: ManagePostKeysAnswer;
  };
  'GET /key-names': {
    query: { id: string | undefined };
    body: undefined;
    answer: ManageGetKeyNamesAnswer;
  };
  'GET /keys/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetKeysByIdAnswer;
  };
  'PATCH /keys/{id}': {
    query: {  };
    body: ManagePatchKeysByIdRequest;
    answer: ManagePatchKeysByIdAnswer;
  };
  'DELETE /keys/{id}': {
    query: {  };
    body: undefined;
    answer: ManagePatchKeysByIdAnswer;
  };
  'POST /keys/{id}/rotate': {
    query: {  };
    body: ManagePostKeysByIdRotateRequest;
    answer: ManagePostKeysAnswer;
  };
  'GET /limits': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; kind?: "gateway" | "project" | "key" | "provider" | undefined; id?: string | undefined };
    body: undefined;
    answer: ManageGetLimitsAnswer;
  };
  'GET /usage': {
    query: { from?: string | undefined; to?: string | undefined; interval?: "5m" | "30m" | "hour" | "6h" | "day" | "month" | undefined; compare?: "true" | "false" | undefined; group_by?: string | undefined; project?: string | undefined; key?: string | undefined; model?: string | undefined; provider?: string | undefined; endpoint?: string | undefined; protocol?: string | undefined; requested_model?: string | undefined; outcome?: string | undefined; largest?: number | undefined; largest_by?: "requests" | "usd" | undefined; columns?: string | undefined; totals?: "true" | "false" | undefined; format?: "json" | "csv" | undefined };
    body: undefined;
    answer: ManageGetUsageAnswer;
  };
  'GET /usage/end-users': {
    query: { from?: string | undefined; to?: string | undefined; project?: string | undefined; key?: string | undefined; model?: string | undefined; format?: "json" | "csv" | undefined };
    body: undefined;
    answer: ManageGetUsageEndUsersAnswer;
  };
  'POST /what-if': {
    query: {  };
    body: ManagePostWhatIfRequest;
    answer: ManagePostWhatIfAnswer;
  };
  'POST /route/explain': {
    query: {  };
    body: ManagePostRouteExplainRequest;
    answer: ManagePostRouteExplainAnswer;
  };
  'GET /generations': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; order?: "asc" | "desc" | undefined; order_by?: "time" | "duration" | "first_content" | "cost" | "tokens" | undefined; project?: string | undefined; key?: string | undefined; model?: string | undefined; requested_model?: string | undefined; provider?: string | undefined; attempted?: string | undefined; endpoint?: string | undefined; protocol?: string | undefined; end_user?: string | undefined; status?: string | undefined; outcome?: string | undefined; state?: string | undefined; error_kind?: string | undefined; min_cost_usd?: number | undefined; min_duration_ms?: number | undefined; min_attempts?: number | undefined; slow?: "true" | "false" | undefined; text?: string | undefined; from?: string | undefined; to?: string | undefined };
    body: undefined;
    answer: ManageGetGenerationsAnswer;
  };
  'GET /generations/counts': {
    query: { project?: string | undefined; key?: string | undefined; model?: string | undefined; requested_model?: string | undefined; provider?: string | undefined; attempted?: string | undefined; endpoint?: string | undefined; protocol?: string | undefined; end_user?: string | undefined; status?: string | undefined; outcome?: string | undefined; state?: string | undefined; error_kind?: string | undefined; min_cost_usd?: number | undefined; min_duration_ms?: number | undefined; min_attempts?: number | undefined; slow?: "true" | "false" | undefined; text?: string | undefined; from?: string | undefined; to?: string | undefined; buckets?: number | undefined; facets?: string | undefined };
    body: undefined;
    answer: ManageGetGenerationsCountsAnswer;
  };
  'GET /generations/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetGenerationsByIdAnswer;
  };
  'GET /generations/{id}/payloads': {
    query: {  };
    body: undefined;
    answer: ManageGetGenerationsByIdPayloadsAnswer;
  };
  'GET /generations/{id}/payloads/{stage}': {
    query: { attempt?: number | undefined };
    body: undefined;
    answer: unknown;
  };
  'GET /generations/{id}/diff': {
    query: { attempt?: number | undefined };
    body: undefined;
    answer: ManageGetGenerationsByIdDiffAnswer;
  };
  'POST /generations/{id}/replay': {
    query: {  };
    body: ManagePostGenerationsByIdReplayRequest;
    answer: ManagePostGenerationsByIdReplayAnswer;
  };
  'GET /jobs': {
    query: { limit?: number | undefined; after?: string | undefined; state?: string | undefined; kind?: string | undefined; project?: string | undefined };
    body: undefined;
    answer: ManageGetJobsAnswer;
  };
  'GET /jobs/counts': {
    query: {  };
    body: undefined;
    answer: ManageGetJobsCountsAnswer;
  };
  'GET /jobs/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetJobsByIdAnswer;
  };
  'POST /jobs/{id}/cancel': {
    query: {  };
    body: undefined;
    answer: ManageGetJobsByIdAnswer;
  };
  'POST /jobs/{id}/retry': {
    query: {  };
    body: undefined;
    answer: ManageGetJobsByIdAnswer;
  };
  'GET /batches': {
    query: { limit?: number | undefined; after?: string | undefined; status?: string | undefined; protocol?: string | undefined; project?: string | undefined };
    body: undefined;
    answer: ManageGetBatchesAnswer;
  };
  'GET /batches/counts': {
    query: {  };
    body: undefined;
    answer: ManageGetBatchesCountsAnswer;
  };
  'GET /batches/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetBatchesByIdAnswer;
  };
  'GET /batches/{id}/failures': {
    query: { limit?: number | undefined; after?: string | undefined };
    body: undefined;
    answer: ManageGetBatchesByIdFailuresAnswer;
  };
  'POST /batches/{id}/cancel': {
    query: {  };
    body: undefined;
    answer: ManageGetBatchesByIdAnswer;
  };
  'GET /webhooks': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; project?: string | undefined };
    body: undefined;
    answer: ManageGetWebhooksAnswer;
  };
  'POST /webhooks': {
    query: {  };
    body: ManagePostWebhooksRequest;
    answer: ManagePostWebhooksAnswer;
  };
  'GET /webhooks/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetWebhooksByIdAnswer;
  };
  'PATCH /webhooks/{id}': {
    query: {  };
    body: ManagePatchWebhooksByIdRequest;
    answer: ManageGetWebhooksByIdAnswer;
  };
  'DELETE /webhooks/{id}': {
    query: {  };
    body: undefined;
    answer: ManageDeleteWebhooksByIdAnswer;
  };
  'POST /webhooks/{id}/rotate': {
    query: {  };
    body: ManagePostWebhooksByIdRotateRequest;
    answer: ManagePostWebhooksAnswer;
  };
  'POST /webhooks/{id}/test': {
    query: {  };
    body: ManagePostWebhooksByIdTestRequest;
    answer: ManagePostWebhooksByIdTestAnswer;
  };
  'GET /webhooks/{id}/deliveries': {
    query: { limit?: number | undefined; after?: string | undefined };
    body: undefined;
    answer: ManageGetWebhooksByIdDeliveriesAnswer;
  };
  'GET /webhooks/{id}/deliveries/{delivery}': {
    query: {  };
    body: undefined;
    answer: ManageGetWebhooksByIdDeliveriesByDeliveryAnswer;
  };
  'POST /webhooks/{id}/deliveries/{delivery}/redeliver': {
    query: {  };
    body: undefined;
    answer: ManagePostWebhooksByIdTestAnswer;
  };
  'GET /events': {
    query: { types?: string | undefined };
    body: undefined;
    answer: unknown;
  };
  'GET /alerts': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; type?: string | undefined; state?: "open" | "resolved" | undefined };
    body: undefined;
    answer: ManageGetAlertsAnswer;
  };
  'GET /problems': {
    query: {  };
    body: undefined;
    answer: ManageGetProblemsAnswer;
  };
  'GET /models': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; provider?: string | undefined; search?: string | undefined };
    body: undefined;
    answer: ManageGetModelsAnswer;
  };
  'GET /models/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetModelsByIdAnswer;
  };
  'GET /providers': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined };
    body: undefined;
    answer: ManageGetProvidersAnswer;
  };
  'GET /providers/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetProvidersByIdAnswer;
  };
  'POST /providers/{id}/breaker': {
    query: {  };
    body: ManagePostProvidersByIdBreakerRequest;
    answer: ManagePostProvidersByIdBreakerAnswer;
  };
  'GET /doctor/findings': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; provider?: string | undefined; model?: string | undefined };
    body: undefined;
    answer: ManageGetDoctorFindingsAnswer;
  };
  'GET /doctor/plan': {
    query: { provider: string | undefined; model: string | undefined };
    body: undefined;
    answer: ManageGetDoctorPlanAnswer;
  };
  'POST /doctor/probes': {
    query: {  };
    body: ManagePostDoctorProbesRequest;
    answer: ManagePostDoctorProbesAnswer;
  };
  'GET /about': {
    query: {  };
    body: undefined;
    answer: ManageGetAboutAnswer;
  };
  'GET /config': {
    query: {  };
    body: undefined;
    answer: ManageGetConfigAnswer;
  };
  'POST /config/check': {
    query: {  };
    body: ManagePostConfigCheckRequest;
    answer: ManagePostConfigCheckAnswer;
  };
  'GET /audit': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; actor?: string | undefined; action?: string | undefined; target?: string | undefined; from?: string | undefined; to?: string | undefined };
    body: undefined;
    answer: ManageGetAuditAnswer;
  };
  'GET /sessions': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined };
    body: undefined;
    answer: ManageGetSessionsAnswer;
  };
  'DELETE /sessions/{id}': {
    query: {  };
    body: undefined;
    answer: ManageDeleteSessionsByIdAnswer;
  };
}
