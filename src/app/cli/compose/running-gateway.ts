// Input of composing a gateway, and the running gateway.
import type { Clock } from '../../../base/runtime/clock.ts';
import type { ResolveHost } from '../../../base/runtime/resolve-host.ts';
import type { Siblings } from '../../../cluster/workers/index.ts';
import type { Environment, LoadedConfig } from '../../config/index.ts';

export interface ComposeInput {
  readonly environment: Environment;
  /** Reads the configuration; called again when it is reloaded. Throws ConfigError. */
  readonly load: () => LoadedConfig;
  readonly clock?: Clock | undefined;
  /** A number in [0, 1). */
  readonly random?: (() => number) | undefined;
  /** Every address of a name; the machine's own resolver unless given. */
  readonly resolve?: ResolveHost | undefined;
  /** True: other gateways live in this process, and none of them gives back what all of them hold. */
  readonly sharesProcess?: boolean | undefined;
  /** Takes one log line, newline included. */
  readonly writeLog?: ((line: string) => void) | undefined;
  readonly prettyLog?: boolean | undefined;
  /** The other workers of the same supervisor; null or absent for a process alone. */
  readonly siblings?: Siblings | null | undefined;
}

export interface RunningGateway {
  /** `http://host:port` */
  readonly origin: string;
  /** The same of the metrics' own address; null where they have none. */
  readonly metricsOrigin: string | null;
  /** The key that was made because there was none; null otherwise. */
  readonly firstKey: string | null;
  /** An address of the console at which whoever opens it first, within a quarter of an hour, is signed in. */
  readonly signInLink: () => string;
  /** Reads the certificate and the configuration again. True when the new configuration is in force. */
  reload(): boolean;
  /**
   * Refuses new requests, lets running answers finish within the drain time, and closes everything.
   * @param givesNotice true: for the delay of the configuration requests are taken as before
   */
  stop(givesNotice?: boolean): Promise<void>;
}
