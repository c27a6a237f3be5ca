// Type of a request in the management API.
import type { Answer } from '../api/client.ts';

export type Generation = Answer<'GET /generations/{id}'>;
