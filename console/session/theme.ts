// Theme of the console: light, dark, or that of the system. Stored in this browser.
const KEY = 'dragoman.theme';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Applies a theme and stores it. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  showTheme(theme);
}

/** Every colour is defined for both themes with `light-dark()`, which follows `color-scheme`. */
export function showTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'system' ? 'light dark' : theme;
  document.dispatchEvent(new Event('themechange'));
}
