// Package clients tries the official Go libraries of OpenAI, Anthropic and Google against a running gateway.
//
// This file says what is wrong with an answer: the libraries decode leniently, and remember of each member whether it
// was there and could be read. What is required stands in the tags of their types. It knows neither library.
package clients

import (
	"fmt"
	"reflect"
	"strings"
)

// A member's field of the metadata that the libraries keep beside each object.
type member interface {
	Raw() string
	Valid() bool
}

// Defects of a decoded answer: members that are required and missing, that could not be read as what they should be,
// and variants of unions that the library does not know. A place is a path with a colon and what is wrong there.
func defects(answer any) []string {
	var found []string
	inspect("", reflect.ValueOf(answer), &found)
	return found
}

func inspect(path string, value reflect.Value, found *[]string) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			inspect(path, value.Elem(), found)
		}
	case reflect.Slice:
		for index := range value.Len() {
			inspect(fmt.Sprintf("%s[%d]", path, index), value.Index(index), found)
		}
	case reflect.Struct:
		if variant := value.MethodByName("AsAny"); variant.IsValid() {
			inspectVariant(path, value, variant.Call(nil)[0], found)
		} else if metadata := value.FieldByName("JSON"); metadata.IsValid() {
			inspectMembers(path, value, metadata, found)
		}
	}
}

// A union is what its one variant is.
func inspectVariant(path string, union, variant reflect.Value, found *[]string) {
	if variant.IsNil() {
		*found = append(*found, fmt.Sprintf("%s: is no variant of %s: %s", path, union.Type(), rawOf(union)))
		return
	}
	inspect(fmt.Sprintf("%s<%s>", path, variant.Elem().Type().Name()), variant, found)
}

func inspectMembers(path string, value, metadata reflect.Value, found *[]string) {
	for index := range value.NumField() {
		field := value.Type().Field(index)
		entry := metadata.FieldByName(field.Name)
		name := field.Tag.Get("json")
		if !entry.IsValid() || name == "" || name == "-" {
			continue
		}
		_, constant := field.Tag.Lookup("default")
		required := constant || field.Tag.Get("api") == "required"
		said := entry.Interface().(member)
		place := path + "." + name
		switch {
		case said.Raw() == "":
			if required && !isOmitted(path, name) {
				*found = append(*found, fmt.Sprintf("%s: is missing in %s", place, value.Type()))
			}
		case said.Raw() == "null":
			if constant {
				*found = append(*found, fmt.Sprintf("%s: is null in %s", place, value.Type()))
			}
		case !said.Valid():
			*found = append(*found, fmt.Sprintf("%s: is no %s: %s", place, field.Type, said.Raw()))
		default:
			inspect(place, value.Field(index), found)
		}
	}
}

// Anthropic omits the citations of texts that have none, although its description requires them.
func isOmitted(path, name string) bool {
	return name == "citations" && strings.HasSuffix(path, "<TextBlock>")
}

func rawOf(value reflect.Value) string {
	if raw, ok := value.Interface().(interface{ RawJSON() string }); ok {
		return raw.RawJSON()
	}
	return "?"
}
