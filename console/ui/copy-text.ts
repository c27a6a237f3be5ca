// Copies text to the clipboard. The Clipboard API is limited to HTTPS and localhost, so there is a fallback for
// consoles at a plain HTTP address.

/** @throws if the browser allows neither way */
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
  if (!isCopied) throw new Error('The browser does not allow this page to copy.');
}
