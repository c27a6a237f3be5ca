// Light, dark, or as the system has it: kept by this browser.
const KEY = 'dragoman.theme';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Shows the page in a theme, and keeps the choice. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  showTheme(theme);
}

/** All colours have both their forms; which one is seen is one property of the page. */
export function showTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'system' ? 'light dark' : theme;
  document.dispatchEvent(new Event('themechange'));
}
