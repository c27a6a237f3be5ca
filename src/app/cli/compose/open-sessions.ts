// Sessions of the console, for the console itself and for the management API, which lists and ends them. Loaded when one of them is asked.
import type { AdminSignIn } from '../../../accounts/auth/index.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { SealedNotes } from '../../../engine/state/sealed-notes.ts';
import type { Sessions } from '../../../operations/console/index.ts';
import type { SessionAdministration } from '../../../operations/management/index.ts';

const PURPOSE = 'console sessions';

export interface SessionsInput {
  readonly authenticateAdmin: AdminSignIn;
  /** Credential of the operator in requests of this process. */
  readonly inProcess: string;
  readonly storage: Pick<Storage, 'vault' | 'secret' | 'earlierSecrets'>;
  readonly clock: Clock;
}

export interface OpenSessions {
  /** The same sessions at every call. */
  readonly opened: () => Promise<Sessions>;
  readonly list: SessionAdministration;
}

export function openSessions({ storage, clock, ...admin }: SessionsInput): OpenSessions {
  const { vault, secret, earlierSecrets } = storage;
  const open = async (): Promise<Sessions> => {
    const keys = [await secret(PURPOSE), ...(await earlierSecrets(PURPOSE))] as const;
    const served = await import('../../../operations/console/index.ts');
    return new served.Sessions(new SealedNotes(vault, PURPOSE, keys), clock);
  };
  let sessions: Promise<Sessions> | undefined;
  const opened = (): Promise<Sessions> => (sessions ??= open());
  const list = async (): Promise<SessionAdministration> => {
    const served = await import('../../../operations/console/index.ts');
    return served.openSessionList({ ...admin, sessions: await opened() });
  };
  return {
    opened,
    list: {
      list: async () => (await list()).list(),
      end: async (id) => (await list()).end(id),
    },
  };
}
