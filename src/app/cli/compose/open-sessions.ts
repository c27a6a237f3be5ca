// Sessions of the console, used by the console and the management API. Loaded on first use.
import type { AdminSignIn } from '../../../accounts/auth/index.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { SealedNotes } from '../../../engine/state/sealed-notes.ts';
import type { Sessions } from '../../../operations/console/index.ts';
import type { SessionAdministration } from '../../../operations/management/index.ts';

const PURPOSE = 'console sessions';

export interface SessionsInput {
  readonly authenticateAdmin: AdminSignIn;
  /** Credential of the operator for requests within this process. */
  readonly inProcess: string;
  readonly storage: Pick<Storage, 'vault' | 'secret' | 'earlierSecrets'>;
  readonly clock: Clock;
}

export interface OpenSessions {
  /** Returns the same object at every call. */
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
