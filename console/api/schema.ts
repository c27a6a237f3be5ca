// The management API as types. Made of its description by `npm run docs`: not to be edited.

export type ManageGetAuditAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "audit.entry"; readonly id: string; readonly created_at: string; readonly actor: { readonly id: string; readonly name: string; readonly address: string | null }; readonly action: string; readonly target: string; readonly request_id: string | null; readonly before: Readonly<Record<string, unknown>> | null; readonly after: Readonly<Record<string, unknown>> | null })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetConfigAnswer = { readonly object: "config"; readonly path: string | null; readonly revision: number; readonly config: Readonly<Record<string, unknown>> };

export type ManageGetDoctorFindingsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "doctor.diagnosis"; readonly id: string; readonly provider: string; readonly protocol: string; readonly model: string; readonly base_url: string; readonly model_id: string | null; readonly slug: string | null; readonly probed_at: string; readonly probes: number; readonly facts: { readonly quirks: Readonly<Record<string, string | boolean>>; readonly supported: readonly (string)[]; readonly unsupported: readonly (string)[]; readonly reasoning?: string | undefined; readonly reasoning_mandatory?: boolean | undefined; readonly context_length?: number | undefined }; readonly findings: readonly ({ readonly probe: string; readonly title: string; readonly outcome: "yes" | "no" | "unknown"; readonly value?: string | undefined; readonly detail: string })[] })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetGenerationsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly id: string; readonly created_at: string; readonly key_id: string; readonly project_id: string; readonly end_user: string | null; readonly model: string | null; readonly requested_model: string; readonly provider: string | null; readonly endpoint: string | null; readonly protocol: string; readonly lane: string | null; readonly status: number; readonly streamed: boolean; readonly cancelled: boolean; readonly latency: number | null; readonly generation_time: number | null; readonly finish_reason: string | null; readonly estimated: boolean; readonly native_tokens: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; readonly prompt_tokens_details: Readonly<Record<string, number>>; readonly completion_tokens_details: Readonly<Record<string, number>>; readonly tool_calls: Readonly<Record<string, number>> } | null; readonly cost: { readonly usd: number | null; readonly items: Readonly<Record<string, number>>; readonly price: unknown } | null; readonly error: { readonly kind: string; readonly message: string; readonly upstream_status: number | null } | null; readonly attempts: number })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetGenerationsByIdAnswer = { readonly id: string; readonly created_at: string; readonly key_id: string; readonly project_id: string; readonly end_user: string | null; readonly model: string | null; readonly requested_model: string; readonly provider: string | null; readonly endpoint: string | null; readonly protocol: string; readonly lane: string | null; readonly status: number; readonly streamed: boolean; readonly cancelled: boolean; readonly latency: number | null; readonly generation_time: number | null; readonly finish_reason: string | null; readonly estimated: boolean; readonly native_tokens: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; readonly prompt_tokens_details: Readonly<Record<string, number>>; readonly completion_tokens_details: Readonly<Record<string, number>>; readonly tool_calls: Readonly<Record<string, number>> } | null; readonly cost: { readonly usd: number | null; readonly items: Readonly<Record<string, number>>; readonly price: unknown } | null; readonly error: { readonly kind: string; readonly message: string; readonly upstream_status: number | null } | null; readonly attempts: readonly ({ readonly id: string; readonly provider: string; readonly endpoint: string; readonly model: string; readonly protocol: string; readonly lane: string; readonly outcome: string; readonly status: number | null; readonly started_at: string; readonly first_content_at: string | null; readonly ended_at: string; readonly latency: number | null; readonly duration: number; readonly tokens: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; readonly prompt_tokens_details: Readonly<Record<string, number>>; readonly completion_tokens_details: Readonly<Record<string, number>>; readonly tool_calls: Readonly<Record<string, number>> } | null; readonly cost: { readonly usd: number | null; readonly items: Readonly<Record<string, number>>; readonly price: unknown } | null; readonly error: { readonly kind: string; readonly message: string; readonly upstream_status: number | null } | null })[]; readonly route: { readonly requested_model?: string | undefined; readonly strategy?: { readonly type: string; readonly primary_factor: string | null } | undefined; readonly candidates?: readonly ({ readonly position: number; readonly endpoint: string; readonly provider: string; readonly model: string; readonly score: number | null; readonly reason: string; readonly price: { readonly input: number | null; readonly output: number | null } | null; readonly first_token_ms: number | null; readonly tokens_per_second: number | null; readonly success_rate: number | null; readonly state: string })[] | undefined; readonly excluded?: readonly ({ readonly model: string; readonly endpoint: string | null; readonly reason: string })[] | undefined } | null; readonly report: readonly ({ readonly path: string; readonly action: string; readonly reason: string })[] };

export type ManageGetGenerationsByIdDiffAnswer = { readonly object: "generation.diff"; readonly id: string; readonly attempt: number; readonly client_protocol: string; readonly upstream_protocol: string; readonly lane: "relay" | "translate"; readonly request: { readonly rows: readonly ({ readonly what: string; readonly state: "same" | "changed" | "dropped" | "added" | "gateway" | "form"; readonly client: { readonly path: string | null; readonly value: unknown } | null; readonly upstream: { readonly path: string | null; readonly value: unknown } | null; readonly report: readonly ({ readonly path: string; readonly action: string; readonly reason: string })[] })[]; readonly by_value: boolean } | null; readonly answer: { readonly rows: readonly ({ readonly what: string; readonly state: "same" | "changed" | "dropped" | "added" | "gateway" | "form"; readonly client: { readonly path: string | null; readonly value: unknown } | null; readonly upstream: { readonly path: string | null; readonly value: unknown } | null; readonly report: readonly ({ readonly path: string; readonly action: string; readonly reason: string })[] })[]; readonly by_value: boolean } | null };

export type ManageGetGenerationsByIdPayloadsAnswer = { readonly object: "generation.payloads"; readonly id: string; readonly data: readonly ({ readonly stage: "client_request" | "upstream_request" | "upstream_response" | "client_response"; readonly attempt: number | null; readonly method: string | null; readonly address: string | null; readonly status: number | null; readonly headers: readonly (readonly (string)[])[]; readonly bytes: number; readonly cut: boolean; readonly masked: boolean; readonly reads: readonly (readonly (number)[])[]; readonly text: string | null })[] };

export type ManageGetKeysAnswer = { readonly object: "list"; readonly data: readonly (ManageGetKeysByIdAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetKeysByIdAnswer = { readonly object: "key"; readonly id: string; readonly name: string; readonly project: string | null; readonly roles: readonly ("models" | "admin")[]; readonly hint: string; readonly state: "active" | "expired" | "revoked"; readonly source: "file" | "database"; readonly created_at: string | null; readonly updated_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null; readonly previous_valid_until: string | null; readonly models: readonly (string)[] | null; readonly log_content: boolean | null; readonly strict: boolean | null; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined })[]; readonly budgets: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[]; readonly version: number | null };

export type ManageGetLimitsAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "limits"; readonly id: string; readonly owner: { readonly kind: "gateway" | "project" | "key" | "provider"; readonly id: string; readonly name: string }; readonly limits: readonly ({ readonly limit: { readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined } | { readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined }; readonly text: string; readonly unit: "requests" | "tokens" | "concurrent" | "usd"; readonly used: number; readonly reserved: number; readonly remaining: number; readonly clears_at: string | null })[] })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetModelsAnswer = { readonly object: "list"; readonly data: readonly (ManageGetModelsByIdAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetModelsByIdAnswer = { readonly id: string; readonly object: "model"; readonly endpoints: readonly ({ readonly object: "endpoint"; readonly slug: string; readonly provider: string; readonly model_id: string; readonly model: string; readonly protocol: string; readonly base_url: string; readonly health: { readonly state: "closed" | "open" | "half-open"; readonly until: string | null; readonly reason: string | null; readonly running: number; readonly first_token_ms: number | null; readonly answer_ms: number | null; readonly p95_first_token_ms: number | null; readonly p95_answer_ms: number | null; readonly tokens_per_second: number | null; readonly cache_hit_rate: number | null; readonly success_rate: number | null; readonly failures: Readonly<Record<string, number>>; readonly measured_at: string | null }; readonly price: { readonly input?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_read?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_write_5m?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_write_1h?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly input_audio?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output_audio?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly input_image?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output_reasoning?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly request?: number | undefined; readonly tools?: Readonly<Record<string, number>> | undefined; readonly source: string; readonly kept: boolean } | null; readonly facts: { readonly context_length: number | null; readonly learned_context_length: number | null; readonly max_output_tokens: number | null; readonly reasoning: { readonly style: string | null; readonly mandatory: boolean; readonly efforts: readonly (string)[] | null; readonly min_budget: number; readonly max_budget: number | null; readonly format: string | null }; readonly unsupported_parameters: readonly (string)[]; readonly hosted_tools: readonly (string)[]; readonly faithful: boolean; readonly compacts: boolean; readonly quality: number | null } })[] };

export type ManageGetProjectsAnswer = { readonly object: "list"; readonly data: readonly (ManagePostProjectsAnswer)[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetProvidersAnswer = { readonly object: "list"; readonly data: readonly ({ readonly object: "provider"; readonly id: string; readonly name: string; readonly protocols: readonly (string)[]; readonly models: number; readonly running: number; readonly open: number })[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean };

export type ManageGetProvidersByIdAnswer = { readonly object: "provider"; readonly id: string; readonly name: string; readonly protocols: readonly (string)[]; readonly models: number; readonly running: number; readonly open: number; readonly endpoints: readonly ({ readonly object: "endpoint"; readonly slug: string; readonly provider: string; readonly model_id: string; readonly model: string; readonly protocol: string; readonly base_url: string; readonly health: { readonly state: "closed" | "open" | "half-open"; readonly until: string | null; readonly reason: string | null; readonly running: number; readonly first_token_ms: number | null; readonly answer_ms: number | null; readonly p95_first_token_ms: number | null; readonly p95_answer_ms: number | null; readonly tokens_per_second: number | null; readonly cache_hit_rate: number | null; readonly success_rate: number | null; readonly failures: Readonly<Record<string, number>>; readonly measured_at: string | null }; readonly price: { readonly input?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_read?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_write_5m?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly cache_write_1h?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly input_audio?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output_audio?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly input_image?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly output_reasoning?: number | { readonly base: number; readonly steps: readonly ({ readonly above: number; readonly rate: number })[] } | undefined; readonly request?: number | undefined; readonly tools?: Readonly<Record<string, number>> | undefined; readonly source: string; readonly kept: boolean } | null; readonly facts: { readonly context_length: number | null; readonly learned_context_length: number | null; readonly max_output_tokens: number | null; readonly reasoning: { readonly style: string | null; readonly mandatory: boolean; readonly efforts: readonly (string)[] | null; readonly min_budget: number; readonly max_budget: number | null; readonly format: string | null }; readonly unsupported_parameters: readonly (string)[]; readonly hosted_tools: readonly (string)[]; readonly faithful: boolean; readonly compacts: boolean; readonly quality: number | null } })[] };

export type ManageGetUsageAnswer = { readonly object: "usage"; readonly from: string; readonly to: string; readonly complete: boolean; readonly data: readonly ({ readonly start: string | null; readonly project?: string | null | undefined; readonly key?: string | null | undefined; readonly model?: string | null | undefined; readonly provider?: string | null | undefined; readonly endpoint?: string | null | undefined; readonly protocol?: string | null | undefined; readonly requests?: number | undefined; readonly errors?: number | undefined; readonly cancelled?: number | undefined; readonly attempts?: number | undefined; readonly charged_errors?: number | undefined; readonly tool_turns?: number | undefined; readonly input_uncached?: number | undefined; readonly input_cache_read?: number | undefined; readonly input_cache_write_5m?: number | undefined; readonly input_cache_write_1h?: number | undefined; readonly input_audio?: number | undefined; readonly input_image?: number | undefined; readonly output_text?: number | undefined; readonly output_reasoning?: number | undefined; readonly output_audio?: number | undefined; readonly accepted_prediction?: number | undefined; readonly rejected_prediction?: number | undefined; readonly estimated?: number | undefined; readonly nano_usd?: number | undefined; readonly unpriced?: number | undefined; readonly cache_saved_nano_usd?: number | undefined; readonly duration_ms?: number | undefined; readonly first_content_ms?: number | undefined; readonly first_contents?: number | undefined; readonly usd?: number | undefined; readonly cache_saved_usd?: number | undefined; readonly duration_ms_p95?: number | null | undefined; readonly first_content_ms_p95?: number | null | undefined; readonly errors_by_kind?: Readonly<Record<string, number>> | undefined; readonly tools?: Readonly<Record<string, number>> | undefined })[]; readonly totals?: { readonly all: { readonly start: string | null; readonly project?: string | null | undefined; readonly key?: string | null | undefined; readonly model?: string | null | undefined; readonly provider?: string | null | undefined; readonly endpoint?: string | null | undefined; readonly protocol?: string | null | undefined; readonly requests?: number | undefined; readonly errors?: number | undefined; readonly cancelled?: number | undefined; readonly attempts?: number | undefined; readonly charged_errors?: number | undefined; readonly tool_turns?: number | undefined; readonly input_uncached?: number | undefined; readonly input_cache_read?: number | undefined; readonly input_cache_write_5m?: number | undefined; readonly input_cache_write_1h?: number | undefined; readonly input_audio?: number | undefined; readonly input_image?: number | undefined; readonly output_text?: number | undefined; readonly output_reasoning?: number | undefined; readonly output_audio?: number | undefined; readonly accepted_prediction?: number | undefined; readonly rejected_prediction?: number | undefined; readonly estimated?: number | undefined; readonly nano_usd?: number | undefined; readonly unpriced?: number | undefined; readonly cache_saved_nano_usd?: number | undefined; readonly duration_ms?: number | undefined; readonly first_content_ms?: number | undefined; readonly first_contents?: number | undefined; readonly usd?: number | undefined; readonly cache_saved_usd?: number | undefined; readonly duration_ms_p95?: number | null | undefined; readonly first_content_ms_p95?: number | null | undefined; readonly errors_by_kind?: Readonly<Record<string, number>> | undefined; readonly tools?: Readonly<Record<string, number>> | undefined } | null; readonly groups: readonly ({ readonly start: string | null; readonly project?: string | null | undefined; readonly key?: string | null | undefined; readonly model?: string | null | undefined; readonly provider?: string | null | undefined; readonly endpoint?: string | null | undefined; readonly protocol?: string | null | undefined; readonly requests?: number | undefined; readonly errors?: number | undefined; readonly cancelled?: number | undefined; readonly attempts?: number | undefined; readonly charged_errors?: number | undefined; readonly tool_turns?: number | undefined; readonly input_uncached?: number | undefined; readonly input_cache_read?: number | undefined; readonly input_cache_write_5m?: number | undefined; readonly input_cache_write_1h?: number | undefined; readonly input_audio?: number | undefined; readonly input_image?: number | undefined; readonly output_text?: number | undefined; readonly output_reasoning?: number | undefined; readonly output_audio?: number | undefined; readonly accepted_prediction?: number | undefined; readonly rejected_prediction?: number | undefined; readonly estimated?: number | undefined; readonly nano_usd?: number | undefined; readonly unpriced?: number | undefined; readonly cache_saved_nano_usd?: number | undefined; readonly duration_ms?: number | undefined; readonly first_content_ms?: number | undefined; readonly first_contents?: number | undefined; readonly usd?: number | undefined; readonly cache_saved_usd?: number | undefined; readonly duration_ms_p95?: number | null | undefined; readonly first_content_ms_p95?: number | null | undefined; readonly errors_by_kind?: Readonly<Record<string, number>> | undefined; readonly tools?: Readonly<Record<string, number>> | undefined })[] } | undefined };

export type ManageGetUsageEndUsersAnswer = { readonly object: "usage.end_users"; readonly complete: boolean; readonly data: readonly ({ readonly project: string; readonly end_user: string | null; readonly requests: number; readonly errors: number; readonly input: number; readonly output: number; readonly nano_usd: number; readonly usd: number; readonly unpriced: number })[] };

export type ManagePatchKeysByIdRequest = { readonly name?: string | undefined; readonly roles?: readonly ("models" | "admin")[] | undefined; readonly models?: readonly (string)[] | null | undefined; readonly expires_at?: string | null | undefined; readonly log_content?: boolean | null | undefined; readonly strict?: boolean | null | undefined; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits?: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined })[] | undefined; readonly budgets?: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[] | undefined };

export type ManagePatchProjectsByIdRequest = { readonly limits?: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined })[] | undefined; readonly budgets?: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[] | undefined };

export type ManagePostConfigCheckAnswer = { readonly object: "config.check"; readonly valid: boolean; readonly problems: readonly (string)[] };

export type ManagePostConfigCheckRequest = { readonly config: string };

export type ManagePostGenerationsByIdReplayAnswer = { readonly object: "generation.replay"; readonly id: string; readonly replay_of: string; readonly before: { readonly id: string; readonly status: number; readonly model: string | null; readonly provider: string | null; readonly endpoint: string | null; readonly attempts: number; readonly finish_reason: string | null; readonly input_tokens: number | null; readonly output_tokens: number | null; readonly reasoning_tokens: number | null; readonly usd: number | null; readonly first_content_ms: number | null; readonly duration_ms: number; readonly answer: string | null }; readonly after: { readonly id: string; readonly status: number; readonly model: string | null; readonly provider: string | null; readonly endpoint: string | null; readonly attempts: number; readonly finish_reason: string | null; readonly input_tokens: number | null; readonly output_tokens: number | null; readonly reasoning_tokens: number | null; readonly usd: number | null; readonly first_content_ms: number | null; readonly duration_ms: number; readonly answer: string | null }; readonly same_answer: boolean | null };

export type ManagePostGenerationsByIdReplayRequest = { readonly model?: string | undefined; readonly provider?: string | undefined; readonly tools?: boolean | undefined };

export type ManagePostKeysAnswer = { readonly object: "key"; readonly id: string; readonly name: string; readonly project: string | null; readonly roles: readonly ("models" | "admin")[]; readonly hint: string; readonly state: "active" | "expired" | "revoked"; readonly source: "file" | "database"; readonly created_at: string | null; readonly updated_at: string | null; readonly expires_at: string | null; readonly revoked_at: string | null; readonly previous_valid_until: string | null; readonly models: readonly (string)[] | null; readonly log_content: boolean | null; readonly strict: boolean | null; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined })[]; readonly budgets: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[]; readonly version: number | null; readonly key: string };

export type ManagePostKeysByIdRotateRequest = { readonly grace_ms?: number | undefined };

export type ManagePostKeysRequest = { readonly name: string; readonly project?: string | null | undefined; readonly roles?: readonly ("models" | "admin")[] | undefined; readonly models?: readonly (string)[] | null | undefined; readonly expires_at?: string | null | undefined; readonly log_content?: boolean | null | undefined; readonly strict?: boolean | null | undefined; readonly routing?: { readonly type?: "priority" | "order" | "round_robin" | "least_latency" | undefined; readonly primary_factor?: "cost" | "price" | "speed" | "latency" | "throughput" | "quality" | undefined; readonly providers?: readonly (string)[] | undefined; readonly order?: readonly (string)[] | undefined; readonly only?: readonly (string)[] | undefined; readonly ignore?: readonly (string)[] | undefined; readonly require_parameters?: boolean | undefined; readonly max_price?: { readonly prompt?: number | undefined; readonly completion?: number | undefined; readonly request?: number | undefined } | undefined; readonly fallback?: boolean | string | readonly (string)[] | undefined; readonly stream_safety?: "error" | "buffer" | "continue" | undefined; readonly hedge?: boolean | undefined } | null | undefined; readonly limits?: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined })[] | undefined; readonly budgets?: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[] | undefined };

export type ManagePostProjectsAnswer = { readonly object: "project"; readonly id: string; readonly state: "active" | "archived"; readonly source: "file" | "database"; readonly created_at: string | null; readonly updated_at: string | null; readonly archived_at: string | null; readonly limits: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined })[]; readonly budgets: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[]; readonly version: number | null };

export type ManagePostProjectsRequest = { readonly name: string; readonly limits?: readonly ({ readonly requests?: number | undefined; readonly tokens?: number | undefined; readonly concurrent?: number | undefined; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined })[] | undefined; readonly budgets?: readonly ({ readonly usd: number; readonly per?: string | undefined; readonly timezone?: string | undefined; readonly models?: readonly (string)[] | undefined; readonly each?: "end_user" | undefined; readonly when_spent?: "stop" | "finish" | undefined; readonly unpriced?: "refuse" | "allow" | undefined })[] | undefined };

export type ManagePostProvidersByIdBreakerAnswer = { readonly object: "provider.breaker"; readonly provider: string; readonly state: "open" | "closed"; readonly until: string | null; readonly endpoints: readonly ({ readonly model_id: string; readonly slug: string })[] };

export type ManagePostProvidersByIdBreakerRequest = { readonly state: "open" | "closed"; readonly model?: string | undefined; readonly for_ms?: number | undefined; readonly reason?: string | undefined };

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
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; project?: string | undefined; state?: "revoked" | "unrevoked" | undefined; name?: string | undefined; search?: string | undefined; id?: string | undefined };
    body: undefined;
    answer: ManageGetKeysAnswer;
  };
  'POST /keys': {
    query: {  };
    body: ManagePostKeysRequest;
    answer: ManagePostKeysAnswer;
  };
  'GET /keys/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetKeysByIdAnswer;
  };
  'PATCH /keys/{id}': {
    query: {  };
    body: ManagePatchKeysByIdRequest;
    answer: ManageGetKeysByIdAnswer;
  };
  'DELETE /keys/{id}': {
    query: {  };
    body: undefined;
    answer: ManageGetKeysByIdAnswer;
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
    query: { from?: string | undefined; to?: string | undefined; interval?: "hour" | "day" | "month" | undefined; group_by?: string | undefined; project?: string | undefined; key?: string | undefined; model?: string | undefined; provider?: string | undefined; endpoint?: string | undefined; protocol?: string | undefined; largest?: number | undefined; columns?: string | undefined; totals?: "true" | "false" | undefined; format?: "json" | "csv" | undefined };
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
  'GET /generations': {
    query: { limit?: number | undefined; after?: string | undefined; before?: string | undefined; order?: "asc" | "desc" | undefined; project?: string | undefined; key?: string | undefined; model?: string | undefined; provider?: string | undefined; endpoint?: string | undefined; protocol?: string | undefined; end_user?: string | undefined; status?: string | undefined; outcome?: "answered" | "failed" | "cancelled" | undefined; min_cost_usd?: number | undefined; from?: string | undefined; to?: string | undefined };
    body: undefined;
    answer: ManageGetGenerationsAnswer;
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
  'GET /events': {
    query: { types?: string | undefined };
    body: undefined;
    answer: unknown;
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
}
