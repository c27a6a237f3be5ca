// Tells from the brackets in a call's arguments whether the JSON object in them has ended. Each character is read once, and
// only if somebody asks.

export class ArgumentsProgress {
  #unread = '';
  /** Undefined until the first character that is not a space. */
  #isObject: boolean | undefined;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** Takes the next fragment. */
  take(text: string): this {
    this.#unread += text;
    return this;
  }

  /** True for the beginning of an object without its end. */
  get isCutShort(): boolean {
    this.#read();
    return this.#isObject === true && (this.#isInString || this.#depth > 0);
  }

  /** True for an object with its end. Other text is never complete. */
  get isComplete(): boolean {
    this.#read();
    return this.#isObject === true && !this.#isInString && this.#depth <= 0;
  }

  #read(): void {
    const text = this.#unread;
    this.#unread = '';
    for (let at = 0; at < text.length; at++) {
      const letter = text.charAt(at);
      this.#isObject ??= letter.trim() === '' ? undefined : letter === '{';
      if (this.#isEscaped) this.#isEscaped = false;
      else if (letter === '\\') this.#isEscaped = this.#isInString;
      else if (letter === '"') this.#isInString = !this.#isInString;
      else if (this.#isInString) continue;
      else if (letter === '{' || letter === '[') this.#depth++;
      else if (letter === '}' || letter === ']') this.#depth--;
    }
  }
}
