// Sessions with their accounts, as shown to operators. Contains no tokens or keys.
import type { AdminSignIn, Principal } from '../../accounts/auth/index.ts';
import type { SessionAdministration, SessionView } from '../management/index.ts';
import type { ListedSession, Sessions } from './sessions.ts';

interface SessionListDependencies {
  readonly sessions: Sessions;
  readonly authenticateAdmin: AdminSignIn;
  /** The operator's credential for requests within this process. */
  readonly inProcess: string;
}

/** Account of a session. @throws GatewayError `authentication` or `permission` if its key is no longer valid */
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
      // The key was revoked or has expired. The session ends at its next request.
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
