// The simulated provider on its own socket, and its catalog entry.
import type { BuiltIn } from '../../../catalog/index.ts';
import { createSim, findSimModel, simModels, taskModels } from '../../../../sim/index.ts';
import { simPreset } from '../../../catalog/providers/index.ts';
import { TASKS } from '../../../engine/index.ts';
import type { Listener } from '../../../base/runtime/http-server.ts';
import { listenOrExplain } from '../listen-or-explain.ts';

const SIMULATED = TASKS.flatMap(({ simulated }) => simulated ?? []);

/** Serves the simulated provider, by default on loopback only. Throws GatewayError when it cannot listen. */
export function listenSim(hostname: string, port: number): Listener {
  const simulated = createSim({ tasks: SIMULATED });
  return listenOrExplain({
    hostname,
    port,
    maxBodyBytes: 256 * 1024 * 1024,
    hot: {},
    fallback: (request, connection) => {
      connection.disableIdleTimeout();
      return simulated.fetch(request);
    },
  });
}

/** Catalog entry of the simulated provider. @param origin `http://host:port` of its socket */
export function simBuiltIn(origin: string): BuiltIn {
  return { preset: simPreset(origin), models: [...simModels, ...taskModels(SIMULATED)], find: findSimModel };
}
