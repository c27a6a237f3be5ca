// An upstream's failure without the secrets that some echo.
import { GatewayError } from '../../canonical/index.ts';

/** The same error where there was nothing to mask. @param redact masks secrets in a text */
export function redactedError(error: GatewayError, redact: (text: string) => string): GatewayError {
  const { param, code, fault, retryAfterMs, upstream, details, failedGeneration, context, httpStatus } =
    error;
  const message = redact(error.message);
  // The body goes to the client as it is where it is in the client's protocol: it may name the key elsewhere.
  const shown = upstream && {
    ...upstream,
    body: redact(upstream.body),
    requestId: upstream.requestId && redact(upstream.requestId),
  };
  const isClean = shown?.body === upstream?.body && shown?.requestId === upstream?.requestId;
  if (message === error.message && isClean) return error;
  return new GatewayError(error.kind, message, {
    param,
    code,
    fault,
    retryAfterMs,
    upstream: shown,
    context,
    details,
    httpStatus,
    failedGeneration: failedGeneration === undefined ? undefined : redact(failedGeneration),
  });
}
