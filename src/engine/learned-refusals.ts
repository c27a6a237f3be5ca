// What an upstream refused to this account although its protocol allows it: learned from its 400, so that the
// next request is not refused for the same reason. Forgotten with the configuration that made the endpoint.
import type { Endpoint } from '../catalog/index.ts';
import type { GatewayError, Report, ResolvedReasoning } from '../canonical/index.ts';

export class LearnedRefusals {
  /** OpenAI gives reasoning summaries only to organisations that it has verified (help centre, 2025-06). */
  readonly #noSummaries = new WeakSet<Endpoint>();

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
