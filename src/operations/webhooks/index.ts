// Webhooks: signed events, delivered with retries.
export { decodeDelivery, type DeliveryAttempt, DELIVERY_KIND } from './delivery.ts';
export { type ConfiguredWebhook, Endpoints, type Issued, type WebhookEndpoint } from './endpoints.ts';
export { EVENT_TYPES, TEST_EVENT } from './event-types.ts';
export { SECRET_PREFIX } from './sign-webhook.ts';
export { type LoggedDelivery, Webhooks } from './webhooks.ts';
