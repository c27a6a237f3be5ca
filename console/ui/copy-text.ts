// Puts a text where others can be pasted from. Browsers have a way of their own for pages over TLS and of the same machine alone,
// and consoles are opened at plain addresses of a network, too.

/** @throws where the browser allows neither way */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const shown = document.createElement('span');
  shown.textContent = text;
  shown.className = 'fixed whitespace-pre opacity-0 select-text';
  document.body.append(shown);
  const selection = getSelection();
  selection?.selectAllChildren(shown);
  const isCopied = document.execCommand('copy');
  selection?.removeAllRanges();
  shown.remove();
  if (!isCopied) throw new Error('The browser does not let this page copy.');
}
