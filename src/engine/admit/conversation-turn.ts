// The lock of a conversation: only one turn runs at a time. It is a lease of a few seconds that is renewed, so that
// it is soon free after a process dies or is cut off.
import { GatewayError } from '../../canonical/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Holding } from './admit.ts';

/** Long enough for a late renewal, or for one that fails while the database restarts. */
const HELD_MS = 5_000;
const RENEW_MS = 1_500;

type Dependencies = Pick<GatewayDependencies, 'state' | 'log' | 'clock'>;

export class ConversationTurn implements Holding {
  readonly #projectId: string;
  readonly #conversation: string;
  readonly #generationId: string;
  readonly #deps: Dependencies;
  #isOver = false;
  #cancel: (() => void) | undefined;

  private constructor(projectId: string, conversation: string, generationId: string, deps: Dependencies) {
    this.#projectId = projectId;
    this.#conversation = conversation;
    this.#generationId = generationId;
    this.#deps = deps;
  }

  /** @throws GatewayError `conflict` while another turn runs */
  static async begin(
    projectId: string,
    conversation: string,
    generationId: string,
    deps: Dependencies,
  ): Promise<ConversationTurn> {
    const turn = new ConversationTurn(projectId, conversation, generationId, deps);
    if (!(await turn.#hold()))
      throw new GatewayError(
        'conflict',
        'Another turn of this conversation is running. Wait until it has ended.',
        // OpenAI responds with 400 (clients' reports, 2026-03). Its SDKs would retry a 409 by themselves.
        { param: 'conversation', code: 'conversation_locked', httpStatus: 400 },
      );
    turn.#renewLater();
    return turn;
  }

  async release(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    const id = this.#conversation;
    await this.#deps.state.conversations
      .endTurn(this.#projectId, id, this.#generationId)
      .catch((error: unknown) =>
        this.#deps.log.error('a conversation could not be unlocked and stays busy for some seconds', {
          id,
          error,
        }),
      );
  }

  #hold(): Promise<boolean> {
    const { state, clock } = this.#deps;
    const now = clock.wall();
    return state.conversations.beginTurn(
      this.#projectId,
      this.#conversation,
      this.#generationId,
      now,
      HELD_MS,
    );
  }

  #renewLater(): void {
    this.#cancel = this.#deps.clock.after(RENEW_MS, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    // While the database is unavailable, no other turn can begin. The renewal is retried.
    await this.#hold().catch(() => {});
    if (this.#isOver) await this.release();
    else this.#renewLater();
  }
}
