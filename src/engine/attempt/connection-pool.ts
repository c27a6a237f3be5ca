// Which connections the requests to an endpoint may share: those of the same provider with the same credential, whatever
// models and addresses they are for.
import { createHash } from 'node:crypto';
import type { Endpoint } from '../../catalog/index.ts';
import type { PoolName } from '../../upstream/connection-pools.ts';

/** What of an endpoint says who is asking whom. */
export type Identity = Pick<Endpoint, 'provider' | 'auth' | 'headers' | 'credential' | 'road'>;

const known = new WeakMap<Identity, PoolName>();
/** Credentials that are no text are the same where they are the same object, as for all endpoints of a provider. */
const numbers = new WeakMap<NonNullable<Endpoint['credential']>, number>();
let count = 0;

/** The pool of an endpoint. Secrets are in it only as a digest. */
export function connectionPool(endpoint: Identity): PoolName {
  let pool = known.get(endpoint);
  if (!pool) {
    const { provider, auth, headers, credential, road } = endpoint;
    const key = auth && [auth.header, auth.prefix, auth.key.reveal()];
    const proof = [key, headers, numberOf(credential), road?.id];
    const digest = createHash('sha256').update(JSON.stringify(proof)).digest('hex').slice(0, 32);
    pool = { id: `${provider}\n${digest}`, label: provider };
    known.set(endpoint, pool);
  }
  return pool;
}

function numberOf(credential: Endpoint['credential']): number {
  if (!credential) return 0;
  let number = numbers.get(credential);
  if (number === undefined) numbers.set(credential, (number = ++count));
  return number;
}
