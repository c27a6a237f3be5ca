// Addresses that only an account at a vendor opens. All tenants share the account, so that what is in it is no tenant's to name.

/** Schemes of stores in clouds. */
const STORE = /^(?:gs|s3):/i;
const OPEN = /^https?:\/\//i;
/** Hosts that read a request with the key of the account. */
const KEYED_HOST = /(?:^|\.)googleapis\.com\.?$/;
/** A host of theirs that anybody may read from. */
const OPEN_STORE = /^storage\.googleapis\.com\.?$/;
/** Scheme and slashes, which servers complete where a client leaves them out. */
const BEGINNING = /^(?:https?:)?[\\/]*/i;

/** True for the address of an object in an account, however it is spelled. */
export function isAccountAddress(text: string): boolean {
  const address = text.trim();
  if (STORE.test(address)) return true;
  const host = URL.parse(address.replace(BEGINNING, 'https://'))?.hostname ?? '';
  return KEYED_HOST.test(host) && !OPEN_STORE.test(host);
}

/** True for an http(s) address that a server can read without an account. */
export function isOpenAddress(text: string): boolean {
  return OPEN.test(text) && !isAccountAddress(text);
}
