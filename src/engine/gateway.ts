// The engine's door: one instance answers all requests of the process, each in a run of its own.
import { GatewayError } from '../canonical/index.ts';
import type { ApiCall } from './call.ts';
import { LearnedRefusals } from './learned-refusals.ts';
import { Run, type GatewayDependencies } from './run.ts';

export class Gateway {
  readonly #deps: GatewayDependencies;
  readonly #active = new Set<Run>();
  readonly #learned = new LearnedRefusals();

  constructor(deps: GatewayDependencies) {
    this.#deps = deps;
  }

  /** Requests being answered. */
  get active(): number {
    return this.#active.size;
  }

  /** Answers one request. Never rejects: every failure reaches the client in its own protocol. */
  async serve(call: ApiCall): Promise<void> {
    const run = new Run(this.#deps, call, this.#learned);
    this.#active.add(run);
    try {
      await run.answer();
    } catch (thrown) {
      // Not even the refusal could be sent: a defect, which must end neither the process nor in silence.
      const error = GatewayError.from(thrown);
      this.#deps.log.error('an answer could not be sent', { error });
      const { status, body } = call.protocol.server.encodeError(error, '');
      call.client.respond(status, { 'content-type': 'application/json' }, JSON.stringify(body), 'text');
    } finally {
      this.#active.delete(run);
    }
  }

  /** Ends every running answer with a native error: the last step of a shutdown that ran out of time. */
  abortAll(): void {
    for (const run of this.#active)
      run.interrupt(new GatewayError('upstream_unavailable', 'the gateway is shutting down'));
  }
}
