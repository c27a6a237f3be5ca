// Faults in the layout of a page that a picture would show: texts that are cut, that lie over each other, or that leave their box,
// and controls that overlap. Positions are compared with each other, not with a kept picture: fonts differ between machines.

/**
 * Faults of the page as it is. Runs in the page, so it refers to nothing outside.
 * @param within selector of the part that is looked at
 */
export function layoutFaults(within: string): readonly string[] {
  /** Pixels by which boxes may overlap or be left: edges of glyphs and rounding. */
  const SLACK = 2;
  type Box = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;

  interface Looks {
    readonly box: DOMRect;
    readonly isClipping: boolean;
    readonly isScrolling: boolean;
    readonly isFloating: boolean;
    readonly hasDots: boolean;
  }
  /** Read once each: a text has a dozen ancestors, and styles are slow to read. */
  const known = new Map<Element, Looks>();
  const looksOf = (element: Element): Looks => {
    const found = known.get(element);
    if (found) return found;
    const { overflow, position, textOverflow } = getComputedStyle(element);
    const looks = {
      box: element.getBoundingClientRect(),
      isClipping: overflow !== 'visible',
      isScrolling: /auto|scroll/.test(overflow),
      isFloating: /fixed|sticky/.test(position),
      hasDots: textOverflow === 'ellipsis',
    };
    known.set(element, looks);
    return looks;
  };
  const ancestorsOf = (element: Element): Element[] => {
    const all: Element[] = [];
    for (let at: Element | null = element; at && at !== document.documentElement; at = at.parentElement)
      all.push(at);
    return all;
  };
  /** A box of one pixel is for screen readers. */
  const isSeen = (element: Element): boolean =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    !element.closest('svg, option, datalist') &&
    !ancestorsOf(element).some((each) => {
      const { box, isClipping } = looksOf(each);
      return isClipping && box.width <= 1 && box.height <= 1;
    });
  const named = (element: Element, text: string): string =>
    `${element.tagName.toLowerCase()} "${text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)}"`;
  /** Parts that float over the rest are compared only with themselves. */
  const layerOf = (element: Element): Element =>
    ancestorsOf(element).find((each) => looksOf(each).isFloating) ?? document.body;
  const overlaps = (one: Box, other: Box): boolean =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > SLACK &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > SLACK;
  /** Part of a box that its ancestors show. */
  const shownPart = (box: Box, ancestors: readonly Element[]): Box => {
    let { left, right, top, bottom } = box;
    for (const each of ancestors) {
      const { box: clip, isClipping } = looksOf(each);
      if (!isClipping) continue;
      [left, right] = [Math.max(left, clip.left), Math.min(right, clip.right)];
      [top, bottom] = [Math.max(top, clip.top), Math.min(bottom, clip.bottom)];
    }
    return { left, right, top, bottom };
  };

  const faults = new Set<string>();
  const root = document.querySelector(within) ?? document.body;
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    faults.add(`the page is ${document.documentElement.scrollWidth} pixels wide, not ${width}`);

  const texts: { box: Box; element: Element; text: string; layer: Element }[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent ?? '';
    if (!element || text.trim() === '' || !isSeen(element)) continue;
    const ancestors = ancestorsOf(element);
    // Said by three dots: the whole text is read out, and shown in the title or on the page that it leads to.
    if (ancestors.some((each) => looksOf(each).hasDots)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const scroller = ancestors.findIndex((each) => looksOf(each).isScrolling);
    const inside = scroller < 0 ? ancestors : ancestors.slice(0, scroller);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      if (scroller < 0 && (box.left < -SLACK || box.right > width + SLACK))
        faults.add(`outside the window: ${named(element, text)}`);
      const seen = shownPart(box, inside);
      if (seen.right - seen.left < box.width - SLACK || seen.bottom - seen.top < box.height / 2)
        faults.add(`cut: ${named(element, text)}`);
      const frame = inside.find(
        (each) =>
          /^(?:BUTTON|TD|TH|SELECT|DIALOG|LABEL)$/.test(each.tagName) ||
          /^(?:cell|columnheader|dialog|option|menuitem|tab)$/.test(
            each.role ?? each.getAttribute('role') ?? '',
          ),
      );
      const edge = frame && looksOf(frame).box;
      if (edge && (box.left < edge.left - SLACK || box.right > edge.right + SLACK))
        faults.add(`leaves its ${frame?.tagName.toLowerCase()}: ${named(element, text)}`);
      const part = shownPart(box, ancestors);
      if (part.right > part.left && part.bottom > part.top)
        texts.push({ box: part, element, text, layer: layerOf(element) });
    }
  }
  texts.sort((one, other) => one.box.top - other.box.top);
  for (const [at, one] of texts.entries())
    for (const other of texts.slice(at + 1)) {
      if (other.box.top > one.box.bottom) break;
      if (one.element === other.element || one.layer !== other.layer || !overlaps(one.box, other.box))
        continue;
      faults.add(`over each other: ${named(one.element, one.text)} and ${named(other.element, other.text)}`);
    }

  const controls = [...root.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter((each) => isSeen(each) && getComputedStyle(each).display !== 'inline')
    .map((element) => ({
      element,
      box: shownPart(looksOf(element).box, ancestorsOf(element)),
      layer: layerOf(element),
    }))
    .filter(({ box }) => box.right - box.left > 1 && box.bottom - box.top > 1);
  for (const [at, { element, box, layer }] of controls.entries())
    for (const other of controls.slice(at + 1))
      if (
        layer === other.layer &&
        !element.contains(other.element) &&
        !other.element.contains(element) &&
        overlaps(box, other.box)
      )
        faults.add(
          `over each other: ${named(element, element.ariaLabel ?? element.textContent ?? '')} and ` +
            named(other.element, other.element.ariaLabel ?? other.element.textContent ?? ''),
        );
  return [...faults];
}
