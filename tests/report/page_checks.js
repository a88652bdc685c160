// What tests/report/test_report_chromium.py asks of a page; each function gives a list of what is wrong.

const shown = one => `${one.tagName}.${one.getAttribute("class")}: ${one.textContent.trim().slice(0, 60)}`;

/** Text that is wider than its box. */
function clipped() {
    return [...document.querySelectorAll("h1, h2, h3, p, dt, dd, strong, span, li, caption, figcaption, summary, a")]
        .filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
        .map(shown);
}

/** Elements that reach beyond the window, but for what scrolls in a box of its own. */
function beside() {
    return [...document.querySelectorAll("main *")]
        .filter(one => !one.parentElement.closest(".scroll, svg"))
        .filter(one => one.getBoundingClientRect().right > innerWidth + 0.5)
        .map(shown);
}

/** What leaves its card: boxes of every element, and content that can only be scrolled to up or down. */
function outside() {
    const wide = [...document.querySelectorAll("section *")].filter(one => {
        if (one.parentElement.closest(".scroll, svg")) return false;
        const card = one.closest("section").getBoundingClientRect();
        const own = one.getBoundingClientRect();
        return own.width && (own.right > card.right + 0.5 || own.left < card.left - 0.5 || own.bottom > card.bottom + 0.5);
    });
    const high = [...document.querySelectorAll(".scroll")].filter(one => one.scrollHeight > one.clientHeight + 1);
    return [...wide, ...high].map(shown);
}

/** What has to be scrolled to see all of it: wider than its card. */
function scrolled() {
    return [...document.querySelectorAll(".scroll")].filter(one => one.scrollWidth > one.clientWidth + 1).map(shown);
}

/** Boxes of the graph of which a part's picture does not show all. */
function cut() {
    return [...document.querySelectorAll(".graph .box rect")].filter(one => {
        const picture = one.closest("svg").getBoundingClientRect();
        const own = one.getBoundingClientRect();
        return own.top < picture.top || own.bottom > picture.bottom || own.left < picture.left || own.right > picture.right;
    }).map(one => shown(one.parentElement));
}

/** Texts of the graph that leave their box or lie on another text of it. */
function crowded() {
    return [...document.querySelectorAll(".graph .box")].flatMap(box => {
        const edge = box.querySelector("rect").getBoundingClientRect();
        const texts = [...box.querySelectorAll("text")].filter(one => one.textContent);
        const places = texts.map(one => one.getBoundingClientRect());
        const outside = texts.filter((_, index) => places[index].right > edge.right || places[index].left < edge.left);
        const pairs = places.flatMap((a, first) => places.slice(first + 1).flatMap((b, offset) => {
            const across = a.left < b.right && b.left < a.right;
            const down = a.top + 3 < b.bottom && b.top + 3 < a.bottom;
            return across && down ? [`${texts[first].textContent} / ${texts[first + 1 + offset].textContent}`] : [];
        }));
        return [...outside.map(shown), ...pairs];
    });
}

/** Labels of the graph's edges that lie on a box or on each other. */
function covered() {
    const labels = [...document.querySelectorAll(".graph .label")];
    const boxes = [...document.querySelectorAll(".graph .box rect"), ...labels];
    const places = boxes.map(one => one.getBoundingClientRect());
    return labels.filter((label, index) => {
        const a = label.getBoundingClientRect();
        return places.some((b, other) => boxes[other] !== label
            && a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom);
    }).map(shown);
}

/** Texts with less contrast than WCAG 2.1 asks for (AA, 4.5). */
function faint() {
    const light = colour => {
        const parts = colour.match(/[\d.]+/g).slice(0, 3).map(part => part / 255);
        const [r, g, b] = parts.map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = one => {
        for (; one; one = one.parentElement) {
            const colour = getComputedStyle(one).backgroundColor;
            if (colour !== "rgba(0, 0, 0, 0)") return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const ratio = (one, ink, ground) => {
        const [a, b] = [light(ink), light(ground)];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    };
    const texts = [...document.querySelectorAll("h1, h2, p, a, dt, span, strong, td, th, li, summary, figcaption")]
        .filter(one => one.textContent.trim())
        .filter(one => ratio(one, getComputedStyle(one).color, behind(one)) < 4.5);
    const drawn = [...document.querySelectorAll(".graph .box text")].filter(one => {
        const ground = getComputedStyle(one.parentElement.querySelector("rect")).fill;
        const under = ground === "none" ? behind(one.closest("svg")) : ground;
        return ratio(one, getComputedStyle(one).fill, under) < 4.5;
    });
    return [...texts, ...drawn].map(shown);
}
