// Prefill: a final assistant message that the model should continue, for upstreams that do not support it. It is
// refused or approximated.
import type { CanonicalRequest, Report } from '../../canonical/index.ts';
import { GatewayError } from '../../canonical/index.ts';

/** Creates the error for a server that refuses prefill: `unsupported`, naming the message. */
export function refusedPrefill(request: CanonicalRequest): GatewayError {
  return new GatewayError(
    'unsupported',
    'The model does not support prefilled responses. The last message must be from the user.',
    { param: pathOf(request) },
  );
}

/**
 * Reports that the text is sent, but that the model may start a new answer after it. OpenAI's models do so (Chat
 * Completions and Responses), and servers of Messages of which nothing is known may. Google's models up to 3.1 continue the text, although this is undocumented; later ones
 * refuse it (pipecat-ai/pipecat, pull request 5821, 2026-09).
 */
export function reportPrefill(request: CanonicalRequest, report: Report): void {
  report.add(
    pathOf(request),
    'approximated',
    'the model may start a new response instead of continuing this text',
  );
}

function pathOf({ items }: CanonicalRequest): string {
  return items.at(-1)?.path ?? 'messages';
}
