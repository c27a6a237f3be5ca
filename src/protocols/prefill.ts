// A last message of the assistant that the model is to continue, at an upstream that does not: refused or approximated.
// Knows no protocol.
import type { CanonicalRequest, Report } from '../canonical/index.ts';
import { GatewayError } from '../canonical/index.ts';

/** Error of an encoder for a server that is known to refuse such a request: `unsupported`, naming the message. */
export function refusedPrefill(request: CanonicalRequest): GatewayError {
  return new GatewayError(
    'unsupported',
    'the model does not continue the beginning of an answer: the last message must be one of the user',
    { param: pathOf(request) },
  );
}

/**
 * Reports that the text is sent, and that the model may answer after it instead of continuing it. OpenAI's models do so
 * (Chat Completions and Responses); of Google's those up to 3.1 continue it, although no document promises that, and later
 * ones refuse it in words of their own (pipecat-ai/pipecat, pull request 5821, 2026-09).
 */
export function reportPrefill(request: CanonicalRequest, report: Report): void {
  report.add(pathOf(request), 'approximated', 'the model may answer anew instead of continuing this text');
}

function pathOf({ items }: CanonicalRequest): string {
  return items.at(-1)?.path ?? 'messages';
}
