// Error bodies of real servers, byte for byte: recorded 2026-11-24 from llama-server 0.10434.0 (build b1-7e4c0a9) and from
// LiteLLM's proxy 1.108.7, with prompts and models of our own.

export interface Refusal {
  readonly status: number;
  readonly body: string;
}

export const TOO_LONG: Refusal = {
  status: 400,
  body: '{"error":{"code":400,"message":"request (5024 tokens) exceeds the available context size (2048 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5024,"n_ctx":2048}}',
};
export const NO_PICTURES: Refusal = {
  status: 500,
  body: '{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}',
};
export const NO_AUDIO: Refusal = {
  status: 500,
  body: '{"error":{"code":500,"message":"audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}',
};
export const NO_EMBEDDINGS: Refusal = {
  status: 501,
  body: '{"error":{"code":501,"message":"This server does not support embeddings. Start it with `--embeddings`","type":"not_supported_error"}}',
};
export const LARGE_BATCH: Refusal = {
  status: 500,
  body: '{"error":{"code":500,"message":"input (305 tokens) is too large to process. increase the physical batch size (current batch size: 64)","type":"server_error"}}',
};
export const NO_SUCH_MODEL: Refusal = {
  status: 400,
  body: '{"error":{"code":400,"message":"model \'nope\' not found","type":"invalid_request_error"}}',
};
export const LITELLM_NO_SUCH_MODEL: Refusal = {
  status: 400,
  body: '{"error":{"message":"/chat/completions: Invalid model name passed in model=nope. Call `/v1/models` to view available models for your key.","type":"invalid_request_error","param":null,"code":"400","provider_specific_fields":{"error":"/chat/completions: Invalid model name passed in model=nope. Call `/v1/models` to view available models for your key."}}}',
};
