// Starts the console in its page.
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { chosenTheme, showTheme } from './session/theme.ts';

showTheme(chosenTheme());
const place = document.getElementById('console');
if (place) createRoot(place).render(<App />);
