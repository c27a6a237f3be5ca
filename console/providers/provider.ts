// Type of a provider in the management API.
import type { Answer } from '../api/client.ts';

export type Provider = Answer<'GET /providers/{id}'>;
