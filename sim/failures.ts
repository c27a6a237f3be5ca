// Errors of `error-429` and similar models, as sent by OpenAI, Anthropic and Google. Statuses and types are from
// their documentation (OpenAI "Error codes", Anthropic "Errors", google.rpc.Code); the messages are from memory.
import type { SimError } from './request-problems.ts';
import { simError } from './dialect.ts';
import type { FailureKind } from './misbehaviour.ts';

interface Words {
  readonly message: string;
  readonly type: string;
  readonly code?: string;
}

const OPENAI: Readonly<Record<number, Words>> = {
  400: {
    message: 'The simulated model refuses every request.',
    type: 'invalid_request_error',
    code: 'invalid_value',
  },
  401: { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' },
  402: { message: 'Insufficient Balance', type: 'insufficient_quota', code: 'insufficient_balance' },
  403: {
    message: 'You do not have access to this model.',
    type: 'invalid_request_error',
    code: 'model_not_allowed',
  },
  404: {
    message: 'The model does not exist or you do not have access to it.',
    type: 'invalid_request_error',
    code: 'model_not_found',
  },
  408: { message: 'Request timed out.', type: 'timeout', code: 'request_timeout' },
  413: { message: 'The request is too large.', type: 'invalid_request_error', code: 'request_too_large' },
  422: { message: 'The request cannot be processed.', type: 'invalid_request_error', code: 'unprocessable' },
  429: {
    message: 'Rate limit reached for requests. Please try again in 1s.',
    type: 'requests',
    code: 'rate_limit_exceeded',
  },
  500: { message: 'The server had an error while processing your request.', type: 'server_error' },
  503: {
    message: 'The engine is currently overloaded, please try again later.',
    type: 'service_unavailable_error',
  },
};

const ANTHROPIC: Readonly<Record<number, Words>> = {
  400: { message: 'The simulated model refuses every request.', type: 'invalid_request_error' },
  401: { message: 'invalid x-api-key', type: 'authentication_error' },
  402: { message: 'Your account has a billing problem.', type: 'billing_error' },
  403: { message: 'Your API key does not have permission to use this model.', type: 'permission_error' },
  404: { message: 'The model was not found.', type: 'not_found_error' },
  408: { message: 'The request timed out.', type: 'timeout_error' },
  413: { message: 'Request exceeds the maximum size', type: 'request_too_large' },
  422: { message: 'The request cannot be processed.', type: 'invalid_request_error' },
  429: {
    message: 'This request would exceed the rate limit of your organization.',
    type: 'rate_limit_error',
  },
  500: { message: 'Internal server error', type: 'api_error' },
  504: { message: 'The request timed out while processing.', type: 'timeout_error' },
  529: { message: 'Overloaded', type: 'overloaded_error' },
};

/** A failure as OpenAI reports it. @param contextLength tokens, for a context overflow */
export function openaiFailure(status: number, kind: FailureKind, contextLength: number): SimError {
  switch (kind) {
    case 'quota':
      return simError(429, 'You exceeded your current quota, please check your plan and billing details.', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      });
    case 'context_overflow':
      return simError(
        400,
        `This model's maximum context length is ${contextLength} tokens. However, your messages resulted in ${contextLength + 1} tokens. Please reduce the length of the messages.`,
        { code: 'context_length_exceeded', param: 'messages' },
      );
    case 'content_filter':
      return simError(400, 'The prompt was flagged by our content policy.', {
        code: 'content_policy_violation',
      });
    default: {
      const words = OPENAI[status] ?? (status >= 500 ? OPENAI[503] : OPENAI[400]);
      return simError(status, words?.message ?? '', {
        type: words?.type ?? null,
        code: words?.code ?? null,
      });
    }
  }
}

/** A failure as Anthropic reports it. @param contextLength tokens, for a context overflow */
export function anthropicFailure(status: number, kind: FailureKind, contextLength: number): SimError {
  switch (kind) {
    case 'quota':
      return simError(429, 'You have reached your specified API usage limits.', {
        type: 'rate_limit_error',
      });
    case 'context_overflow':
      return simError(400, `prompt is too long: ${contextLength + 1} tokens > ${contextLength} maximum`);
    case 'content_filter':
      return simError(400, 'Output blocked by content filtering policy');
    default: {
      const words = ANTHROPIC[status] ?? (status >= 500 ? ANTHROPIC[500] : ANTHROPIC[400]);
      return simError(status, words?.message ?? '', { type: words?.type ?? null });
    }
  }
}

/** Anthropic's error type for a status. */
export function anthropicErrorType(status: number): string {
  return (ANTHROPIC[status] ?? (status >= 500 ? ANTHROPIC[500] : ANTHROPIC[400]))?.type ?? 'api_error';
}

const GOOGLE: Readonly<Record<number, Words>> = {
  400: { message: 'The simulated model refuses every request.', type: 'INVALID_ARGUMENT' },
  401: {
    message: 'Request had invalid authentication credentials. Expected an API key.',
    type: 'UNAUTHENTICATED',
  },
  402: { message: 'Please enable billing on this project.', type: 'FAILED_PRECONDITION' },
  403: { message: 'The caller does not have permission', type: 'PERMISSION_DENIED' },
  404: { message: 'The model is not found for API version v1beta.', type: 'NOT_FOUND' },
  408: { message: 'The request timed out.', type: 'DEADLINE_EXCEEDED' },
  429: { message: 'Resource has been exhausted (e.g. check quota).', type: 'RESOURCE_EXHAUSTED' },
  500: { message: 'An internal error has occurred. Please retry.', type: 'INTERNAL' },
  503: { message: 'The model is overloaded. Please try again later.', type: 'UNAVAILABLE' },
  504: { message: 'The request timed out while processing.', type: 'DEADLINE_EXCEEDED' },
};

/** A failure as Google reports it. @param contextLength tokens, for a context overflow */
export function geminiFailure(status: number, kind: FailureKind, contextLength: number): SimError {
  switch (kind) {
    case 'quota':
      return simError(429, 'Your prepayment credits are depleted. Please go to AI Studio to manage billing.');
    case 'context_overflow':
      return simError(
        400,
        `The input token count (${contextLength + 1}) exceeds the maximum number of tokens allowed (${contextLength}).`,
      );
    case 'content_filter':
      return simError(400, 'The request was blocked due to safety settings.');
    default: {
      const words = GOOGLE[status] ?? GOOGLE[status >= 500 ? 503 : 400];
      return simError(status, words?.message ?? '', { type: words?.type ?? null });
    }
  }
}

/** Name of the google.rpc.Code for a status. */
export function googleStatus(status: number): string {
  return (GOOGLE[status] ?? GOOGLE[status >= 500 ? 503 : 400])?.type ?? 'UNKNOWN';
}
