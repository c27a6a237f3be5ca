// The console of a running gateway, loaded when somebody first opens it: most gateways are never looked at.
import { OneTimeCodes } from '../../../accounts/auth/index.ts';
import type { ConsoleDependencies } from '../../../operations/console/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Connection } from '../../../base/runtime/http-server.ts';
import { SealedNotes } from '../../../engine/state/sealed-notes.ts';
import type { Storage } from '../../../accounts/ports/index.ts';

type Answering = (request: Request, connection: Connection) => Promise<Response>;

export interface ConsoleInput extends Omit<ConsoleDependencies, 'codes' | 'sessions' | 'clock'> {
  readonly storage: Pick<Storage, 'vault' | 'alerts' | 'secret' | 'earlierSecrets'>;
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

export function openConsole({ operatorSecret, storage, ...input }: ConsoleInput): OpenConsole {
  const now = input.clock.wall;
  const claim = (what: string): Promise<boolean> => storage.alerts.claim(what, now(), Infinity);
  const codes = new OneTimeCodes({ operatorSecret, now, claim });
  const open = async (): Promise<Answering> => {
    const [served, sessions] = await Promise.all([
      import('../../../operations/console/index.ts'),
      openSessions(storage),
    ]);
    return served.openConsole({ ...input, codes, sessions });
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

async function openSessions({
  vault,
  secret,
  earlierSecrets,
}: ConsoleInput['storage']): Promise<SealedNotes> {
  const purpose = 'console sessions';
  return new SealedNotes(vault, purpose, [await secret(purpose), ...(await earlierSecrets(purpose))]);
}
