// The hour that it is, for questions about the time up to now: they stay the same while it lasts.
import { useEffect, useState } from 'react';

const HOUR_MS = 3_600_000;

function hourNow(): number {
  return Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
}

/** @returns its beginning, in Unix milliseconds; another one as soon as it is over */
export function useHour(): number {
  const [hour, setHour] = useState(hourNow);
  useEffect(() => {
    const timer = setTimeout(() => setHour(hourNow()), hour + HOUR_MS - Date.now());
    return () => clearTimeout(timer);
  }, [hour]);
  return hour;
}
