// A provider of a few lines, as somebody would add it: who runs servers of the protocol beside this file.
import { defineProvider, speaks } from '../../src/catalog/providers/provider.ts';

export const toyland = defineProvider({
  id: 'toyland',
  name: 'Toyland',
  keyVariable: 'TOYLAND_API_KEY',
  auth: { header: 'x-toy-key', prefix: '' },
  protocols: { toy: speaks('https://api.toyland.example', { reasoningFormat: null }) },
  defaultProtocol: 'toy',
  docs: 'https://toyland.example/docs',
});
