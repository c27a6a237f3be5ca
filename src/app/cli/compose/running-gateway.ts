// Input of `composeGateway`, and the running gateway.
import type { Clock } from '../../../base/runtime/clock.ts';
import type { ResolveHost } from '../../../base/runtime/resolve-host.ts';
import type { Siblings } from '../../../cluster/workers/index.ts';
import type { Environment, LoadedConfig } from '../../config/index.ts';

export interface ComposeInput {
  readonly environment: Environment;
  /** Reads the configuration, again at each reload. Throws ConfigError. */
  readonly load: () => LoadedConfig;
  readonly clock?: Clock | undefined;
  /** A number in [0, 1). */
  readonly random?: (() => number) | undefined;
  /** Resolves all addresses of a name. Default: the system's resolver. */
  readonly resolve?: ResolveHost | undefined;
  /** True: other gateways run in this process, so process-wide memory is not released. */
  readonly sharesProcess?: boolean | undefined;
  /** Takes one log line, newline included. */
  readonly writeLog?: ((line: string) => void) | undefined;
  readonly prettyLog?: boolean | undefined;
  /** The other workers of the same supervisor. Null or absent: single process. */
  readonly siblings?: Siblings | null | undefined;
}

export interface RunningGateway {
  /** `http://host:port` */
  readonly origin: string;
  /** Ids of the providers that are enabled at the start. */
  readonly providers: readonly string[];
  /** Origin of the metrics listener. Null: none. */
  readonly metricsOrigin: string | null;
  /** The first API key, if it was created at this start. Null: it was not. */
  readonly firstKey: string | null;
  /** One-time console link that signs in its first visitor, valid for 15 minutes. */
  readonly signInLink: () => string;
  /** Reloads certificate and configuration. True: the new configuration is in force. */
  reload(): boolean;
  /**
   * Refuses new requests, lets running answers finish within the drain time, and closes everything.
   * @param isDelayed true: requests are still accepted during the configured delay
   */
  stop(isDelayed?: boolean): Promise<void>;
}
