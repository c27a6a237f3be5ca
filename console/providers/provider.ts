// One provider, as the management API describes it.
import type { Answer } from '../api/client.ts';

export type Provider = Answer<'GET /providers/{id}'>;
