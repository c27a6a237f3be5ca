// What an upstream refused to this account although its protocol allows it: learned from its 400, so that the
// next request is not refused for the same reason. Forgotten with the configuration that made the endpoint.
import type { Endpoint } from '../../catalog/index.ts';
import type { GatewayError, Report, ResolvedReasoning } from '../../canonical/index.ts';

/** Claude from 4.6 on, llama.cpp, Mistral and vLLM; the others name the member by which they were told. */
const PREFILL_WORDS =
  /prefill|\b(?:final|last) (?:assistant )?(?:message|role|turn)\b|must end with a user|continue_final_message|add_generation_prompt|\bprefix\b|\bpartial\b/i;

export class LearnedRefusals {
  /** OpenAI gives reasoning summaries only to organisations that it has verified (help centre, 2025-06). */
  readonly #noSummaries = new WeakSet<Endpoint>();

  readonly #noPrefills = new WeakSet<Endpoint>();

  /**
   * True when an endpoint continues the beginning of an answer. One that cannot be told not to reason does not: its
   * thoughts would come after the text.
   */
  takesPrefill(endpoint: Endpoint): boolean {
    return (
      endpoint.quirks.prefill !== 'none' && !endpoint.reasoningMandatory && !this.#noPrefills.has(endpoint)
    );
  }

  /** Notes the failure of a request with a prefill: an endpoint that refused it for that is not asked again. */
  learnPrefill(endpoint: Endpoint, error: GatewayError): void {
    if (error.fault === 'client' && PREFILL_WORDS.test(error.message)) this.#noPrefills.add(endpoint);
  }

  /** True when this failure taught something new, so that the same request is worth sending again. */
  learn(endpoint: Endpoint, error: GatewayError): boolean {
    if (error.param !== 'reasoning.summary' || error.fault !== 'client' || this.#noSummaries.has(endpoint))
      return false;
    this.#noSummaries.add(endpoint);
    return true;
  }

  /** The resolution without what this endpoint refuses. */
  apply(endpoint: Endpoint, resolved: ResolvedReasoning, report: Report): ResolvedReasoning {
    if (resolved.mode !== 'on' || !this.#noSummaries.has(endpoint)) return resolved;
    if (resolved.summary !== undefined)
      report.add('reasoning.summary', 'dropped', `${endpoint.slug} refuses summaries to this account`);
    return { ...resolved, summary: 'none' };
  }
}
