// The console of a running gateway, loaded when somebody first opens it: most gateways are never looked at.
import { OneTimeCodes } from '../auth/index.ts';
import type { ConsoleDependencies } from '../console/index.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from '../runtime/http-server.ts';

type Answering = (request: Request, connection: Connection) => Promise<Response>;

export interface ConsoleInput extends Omit<ConsoleDependencies, 'codes' | 'now'> {
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  readonly clock: Clock;
}

export interface OpenConsole {
  /** Answers `/console` and everything below it. */
  readonly answer: Answering;
  /** A path at which whoever opens it first, within a quarter of an hour, is signed in. */
  readonly signInPath: () => string;
}

export function openConsole({ operatorSecret, clock: { now }, ...input }: ConsoleInput): OpenConsole {
  const codes = new OneTimeCodes({ operatorSecret, now });
  let opened: Promise<Answering> | undefined;
  return {
    async answer(request, connection) {
      opened ??= import('../console/index.ts').then((served) => served.openConsole({ ...input, codes, now }));
      return (await opened)(request, connection);
    },
    signInPath: () => `/console#code=${codes.issue()}`,
  };
}
