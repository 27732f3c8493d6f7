// Code in tables may break after these characters and between two words, so that all columns fit beside each other.
for (const code of document.querySelectorAll("td code, th code")) {
    code.innerHTML = code.innerHTML.replace(/::|[_./(]|[a-z](?=[A-Z])/g, "$&<wbr>");
}
