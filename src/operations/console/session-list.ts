// Sessions as operators see and end them: each with the account that signed in. Shows no token and no key.
import type { AdminSignIn, Principal } from '../../accounts/auth/index.ts';
import type { SessionAdministration, SessionView } from '../management/index.ts';
import type { ListedSession, Sessions } from './sessions.ts';

interface SessionListDependencies {
  readonly sessions: Sessions;
  readonly authenticateAdmin: AdminSignIn;
  /** Credential of the operator in requests of this process. */
  readonly inProcess: string;
}

/** The account that a session stands for. @throws GatewayError `authentication` or `permission` for a key that is not good any more */
export function accountOf(
  key: string | null,
  { authenticateAdmin, inProcess }: Pick<SessionListDependencies, 'authenticateAdmin' | 'inProcess'>,
): Principal {
  const authorization = `Bearer ${key ?? inProcess}`;
  const header = (name: string): string | null => (name === 'authorization' ? authorization : null);
  return authenticateAdmin({ method: 'GET', url: 'http://console', header });
}

export function openSessionList(deps: SessionListDependencies): SessionAdministration {
  const viewOf = ({ key, ...session }: ListedSession): SessionView | null => {
    try {
      const { keyId, name } = accountOf(key, deps);
      return { ...session, actor: { id: keyId, name } };
    } catch {
      // The key was revoked or has expired: the session ends at its next request.
      return null;
    }
  };
  const list = async (): Promise<readonly SessionView[]> =>
    (await deps.sessions.list()).flatMap((session) => viewOf(session) ?? []);
  return {
    list,
    async end(id) {
      const found = (await list()).find((session) => session.id === id);
      if (!found) return null;
      await deps.sessions.endById(id);
      return found;
    },
  };
}
