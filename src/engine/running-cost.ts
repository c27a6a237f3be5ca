// Cost of one attempt while it runs: by the upstream's counts as far as it has given any, and by an estimate of what
// has passed since. An upstream that counts at the end alone is estimated until then.
import { type GatewayError, inputTokens, outputTokens, type Usage } from '../canonical/index.ts';
import type { Price } from '../catalog/index.ts';
import {
  type Cost,
  costOf,
  estimatedTokens,
  type TokenPrices,
  tokenPrices,
} from '../accounts/ledger/index.ts';
import { nanoUsdOf } from '../accounts/limits/index.ts';

/** Parts of a request to an endpoint that cost something. */
export interface Asked {
  /** Null: unknown. */
  readonly price: Price | null;
  /** By estimate. */
  readonly inputTokens: number;
}

/** Result of an attempt in the end. */
interface Charged {
  readonly usage: Usage | null;
  readonly cost: Cost | null;
}

/** Takes what was used since the last time, in whole nano-dollars and tokens. @returns why the attempt must end */
type Spend = (nanoUsd: number, tokens: number) => GatewayError | null;

const FREE: TokenPrices = { input: 0, output: 0, request: 0 };

export class RunningCost {
  readonly #asked: Asked;
  readonly #prices: TokenPrices;
  readonly #spend: Spend;
  /** The counts that were seen last. */
  #usage: Usage | null = null;
  /** Cost of its tokens, or by estimate of the prompt. */
  #known = 0;
  #knownTokens = 0;
  /** Characters of the answer that they count. */
  #countedChars = 0;
  /** As far as it was told. */
  #nanoUsd = 0;
  #tokens = 0;

  constructor(asked: Asked, spend: Spend) {
    this.#asked = asked;
    this.#prices = asked.price ? tokenPrices(asked.price, asked.inputTokens) : FREE;
    this.#spend = spend;
  }

  /** The prompt is sent. @returns why it must not be; null: it may */
  begin(): GatewayError | null {
    const { inputTokens: tokens } = this.#asked;
    const { input = 0, request } = this.#prices;
    this.#known = tokens * input + request;
    this.#knownTokens = tokens;
    return this.#to(this.#known, tokens);
  }

  /**
   * So much of the answer has passed.
   * @param chars of everything that the model wrote
   * @param usage what the upstream has counted by now; null: nothing
   * @returns why the answer must end here; null: it may go on
   */
  note(chars: number, usage: Usage | null): GatewayError | null {
    if (usage && usage !== this.#usage) this.#count(usage, chars);
    const since = estimatedTokens(chars - this.#countedChars);
    return this.#to(this.#known + since * (this.#prices.output ?? 0), this.#knownTokens + since);
  }

  /** It is over. @param charged what it is charged; null: nothing was sent */
  end(charged: Charged | null): void {
    const { usage, cost } = charged ?? {};
    // An unknown cost is not 0.
    const nanoUsd = cost?.usd === null ? this.#nanoUsd : nanoUsdOf(cost?.usd ?? 0);
    this.#to(nanoUsd, usage ? inputTokens(usage) + outputTokens(usage) : 0);
  }

  #count(usage: Usage, chars: number): void {
    this.#usage = usage;
    this.#countedChars = chars;
    this.#knownTokens = inputTokens(usage) + outputTokens(usage);
    const { usd } = costOf(usage, this.#asked.price);
    if (usd !== null) this.#known = nanoUsdOf(usd);
  }

  #to(nanoUsd: number, tokens: number): GatewayError | null {
    const whole = Math.ceil(nanoUsd);
    const more = whole - this.#nanoUsd;
    const moreTokens = tokens - this.#tokens;
    this.#nanoUsd = whole;
    this.#tokens = tokens;
    return more === 0 && moreTokens === 0 ? null : this.#spend(more, moreTokens);
  }
}
