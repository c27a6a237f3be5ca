// Recognises URLs that are readable only with the operator's account at a cloud vendor. Requests may not contain them,
// because all tenants share the account.

/** URL schemes of cloud storage. */
const STORE = /^(?:gs|s3):/i;
const OPEN = /^https?:\/\//i;
/** Hosts that a vendor reads with the account's credentials. */
const KEYED_HOST = /(?:^|\.)googleapis\.com\.?$/;
/** The one of these hosts that serves public objects. */
const OPEN_STORE = /^storage\.googleapis\.com\.?$/;
/** Scheme and slashes. Servers complete them if a client leaves them out. */
const BEGINNING = /^(?:https?:)?[\\/]*/i;

/** True for the URL of an object in an account, in any spelling. */
export function isAccountAddress(text: string): boolean {
  const address = text.trim();
  if (STORE.test(address)) return true;
  const host = URL.parse(address.replace(BEGINNING, 'https://'))?.hostname ?? '';
  return KEYED_HOST.test(host) && !OPEN_STORE.test(host);
}

/** True for an http(s) URL that is readable without an account. */
export function isOpenAddress(text: string): boolean {
  return OPEN.test(text) && !isAccountAddress(text);
}
