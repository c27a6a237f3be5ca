// A receiver of webhooks, as an operator has one: it checks signatures with the library of Standard Webhooks, by the time
// that messages say.
import { Webhook } from 'standardwebhooks';

export const WEBHOOK_SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

export interface ReceivedAlert {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface WebhookReceiver {
  readonly url: string;
  /** Deliveries that were received and are signed as they should be, refused tries among them. */
  readonly received: ReceivedAlert[];
  /** Statuses of the next answers; 204 once there are none. */
  readonly statuses: number[];
  stop(): Promise<void>;
}

export function receiveWebhooks(): WebhookReceiver {
  const webhook = new Webhook(WEBHOOK_SECRET);
  const received: ReceivedAlert[] = [];
  const statuses: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text();
      const header = (name: string): string => request.headers.get(`webhook-${name}`) ?? '';
      const sentAt = new Date(Number(header('timestamp')) * 1000);
      if (header('signature') !== webhook.sign(header('id'), sentAt, body))
        return new Response(null, { status: 401 });
      received.push({ ...(JSON.parse(body) as Omit<ReceivedAlert, 'id'>), id: header('id') });
      return new Response(null, { status: statuses.shift() ?? 204 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/alerts`,
    received,
    statuses,
    stop: () => server.stop(true),
  };
}
