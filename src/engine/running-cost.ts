// Running cost of one attempt: based on the upstream's usage so far, plus an estimate of everything since. If usage is
// only reported at the end, all is estimated until then.
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

/** Parts of a request that determine its cost. */
export interface CostBasis {
  /** Null: unknown. */
  readonly price: Price | null;
  /** Estimated. */
  readonly inputTokens: number;
}

/** Final result of an attempt. */
interface Charged {
  readonly usage: Usage | null;
  readonly cost: Cost | null;
}

/** Receives additional usage in whole nano-USD and tokens. @returns the error that ends the attempt */
type Spend = (nanoUsd: number, tokens: number) => GatewayError | null;

const FREE: TokenPrices = { input: 0, output: 0, request: 0 };

export class RunningCost {
  readonly #asked: CostBasis;
  readonly #prices: TokenPrices;
  readonly #spend: Spend;
  /** Last usage reported by the upstream. */
  #usage: Usage | null = null;
  /** Cost of that usage, or of the estimated prompt. */
  #known = 0;
  #knownTokens = 0;
  /** Characters of the answer included in that usage. */
  #countedChars = 0;
  /** Amounts reported so far. */
  #nanoUsd = 0;
  #tokens = 0;

  constructor(asked: CostBasis, spend: Spend) {
    this.#asked = asked;
    this.#prices = asked.price ? tokenPrices(asked.price, asked.inputTokens) : FREE;
    this.#spend = spend;
  }

  /** Charges the prompt before it is sent. @returns the reason not to send it; null: send it */
  begin(): GatewayError | null {
    const { inputTokens: tokens } = this.#asked;
    const { input = 0, request } = this.#prices;
    this.#known = tokens * input + request;
    this.#knownTokens = tokens;
    return this.#to(this.#known, tokens);
  }

  /**
   * Charges output that has passed.
   * @param chars characters of everything that the model wrote
   * @param usage the upstream's usage so far; null: none
   * @returns the error that ends the answer; null: continue
   */
  note(chars: number, usage: Usage | null): GatewayError | null {
    if (usage && usage !== this.#usage) this.#count(usage, chars);
    const since = estimatedTokens(chars - this.#countedChars);
    return this.#to(this.#known + since * (this.#prices.output ?? 0), this.#knownTokens + since);
  }

  /** Ends the attempt. @param charged final charge; null: nothing was sent */
  end(charged: Charged | null): void {
    const { usage, cost } = charged ?? {};
    // An unknown cost must not count as 0.
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
