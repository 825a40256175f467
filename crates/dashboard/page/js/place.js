// Where the page is, and who answers it: `headway serve`, or the program that came along
// with the page (`make site` marks such a page).

/** The folder of the page, with a slash at the end. */
export const ROOT = new URL("..", import.meta.url).pathname;

/** Whether nothing but files is where the page came from. */
export const ALONE = document.documentElement.dataset.answers === "here";
