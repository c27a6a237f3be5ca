// The console of a running gateway, loaded on first use, because most gateways are never opened in it.
import { OneTimeCodes } from '../../../accounts/auth/index.ts';
import type { ConsoleDependencies, Sessions } from '../../../operations/console/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Connection } from '../../../base/runtime/http-server.ts';
import type { Storage } from '../../../accounts/ports/index.ts';

type Answering = (request: Request, connection: Connection) => Promise<Response>;

export interface ConsoleInput extends Omit<ConsoleDependencies, 'codes' | 'sessions' | 'clock'> {
  readonly storage: Pick<Storage, 'alerts'>;
  readonly sessions: () => Promise<Sessions>;
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  readonly clock: Clock;
}

export interface OpenConsole {
  /** Serves `/console` and everything below it. */
  readonly answer: Answering;
  /** One-time path that signs in its first visitor, valid for 15 minutes. */
  readonly signInPath: () => string;
}

export function openConsole({ operatorSecret, storage, sessions, ...input }: ConsoleInput): OpenConsole {
  const now = input.clock.wall;
  const claim = (what: string): Promise<boolean> => storage.alerts.claim(what, now(), Infinity);
  const codes = new OneTimeCodes({ operatorSecret, now, claim });
  const open = async (): Promise<Answering> => {
    const served = await import('../../../operations/console/index.ts');
    return served.openConsole({ ...input, codes, sessions: await sessions() });
  };
  let opened: Promise<Answering> | undefined;
  return {
    async answer(request, connection) {
      opened ??= open();
      return (await opened)(request, connection);
    },
    signInPath: () => `/console#code=${codes.issue()}`,
  };
}
